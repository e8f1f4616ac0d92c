#pragma once
// Pieces of JSON text. The writers lay the lines out themselves: one turn per line, keys in a
// fixed order, three decimals where times are rounded to them.

#include <string>
#include <string_view>
#include <vector>

namespace diarist::output {

/// Quoted and escaped; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// Three decimals, "null" for what is not a finite number.
std::string json_three_decimals(double value);

/// "[]", or one item per line; `indent` is the column of the closing bracket.
std::string json_list(const std::vector<std::string>& items, int indent);

}  // namespace diarist::output
