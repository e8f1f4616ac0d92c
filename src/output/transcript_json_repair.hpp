#pragma once
// JSON that is almost JSON, made acceptable to a strict parser and back.

#include <cstddef>
#include <string>
#include <string_view>

namespace diarist::output {

/// A text with stand-ins for what a strict parser refuses.
struct RepairedJson {
  bool changed = false;
  std::string text;                    // empty when nothing had to change
  std::size_t broken_bytes = 0;        // bytes that are no UTF-8
  std::size_t bare_numbers = 0;        // NaN, Infinity, -Infinity
  std::size_t control_characters = 0;  // inside strings
  std::size_t first_line = 0;          // of the first of all these, from 1
};

/// Replaces bytes that are no UTF-8 by stand-in characters, bare numbers by strings that begin with
/// a stand-in, and control characters inside strings by escapes.
RepairedJson repaired_json(std::string_view text);

/// Undoes the stand-ins in a parsed string.
std::string restored(std::string text);

/// The bare number that a string stands for ("NaN"); empty when it is just a string.
std::string_view bare_number(std::string_view text);

}  // namespace diarist::output
