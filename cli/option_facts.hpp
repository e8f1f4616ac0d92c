#pragma once
// What the parser does not know about an option: where it stands in a help text, what its value is
// called, what a shell may offer for it.

#include <string>
#include <string_view>
#include <vector>

namespace diarist::cli {

/// What a shell completes after the option.
enum class ValueKind { kText, kNumber, kFile, kFolder };

struct OptionFacts {
  const char* name;   ///< without dashes
  const char* group;  ///< one of option_groups()
  const char* value;  ///< "FILE"; empty: by the type of the option
  ValueKind kind = ValueKind::kText;
};

/// Null for an option that is not in the table: it stands under its own group, or "Options".
const OptionFacts* facts_of(std::string_view name);

/// The order in which groups stand in a help text; others come between these and the last one.
const std::vector<std::string>& option_groups();

/// Names to offer for an option that takes more than these names: presets, devices.
/// Type of options that take formats of turns.
inline constexpr const char* kFormatList = "FORMAT,...";

/// The verb's option of this name is not the one that other verbs have.
bool means_something_else(std::string_view verb, std::string_view name);

std::vector<std::string> offered_values(std::string_view name);

/// Examples of the verbs whose own text has none, by the words of the verb ("models list").
std::string example_of(std::string_view verb);

}  // namespace diarist::cli
