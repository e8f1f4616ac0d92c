#pragma once
// What a fuzz target defines (see README.md): one input, and inputs to start from.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

/// Feeds one input to the reader under test. Error is the only answer a bad input may get besides
/// a valid result; any other exception, a sanitizer's finding or a long run is a bug.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace diarist::fuzz {

/// Small valid inputs, built by code; the same ones in every run.
std::vector<std::string> seeds();

inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Runs a reader; its Error is a good answer.
template <typename Body>
void expect_error_or_result(Body&& body) {
  try {
    body();
  } catch (const Error&) {
  }
}

}  // namespace diarist::fuzz
