#pragma once
// "Did you mean": the word that somebody probably wanted to type.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::cli {

/// Edits between two words: insert, drop, replace, or swap two neighbours.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate with the fewest edits, the first of equals; nothing when a third of the word or
/// more would have to change (two edits are always allowed, one in words up to three letters).
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// " (did you mean WORD?)", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace diarist::cli
