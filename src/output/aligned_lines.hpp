#pragma once
// Lines of cells as columns of a terminal.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "output/terminal_text.hpp"

namespace diarist::output {

/// Cells two blanks apart. Columns from `first` up to `end` hold numbers and are aligned to the
/// right, the others to the left.
template <std::size_t kCells>
std::string aligned_lines(const std::vector<std::array<std::string, kCells>>& lines,
                          std::size_t first, std::size_t end) {
  std::array<int, kCells> widths{};
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < kCells; ++i) widths[i] = std::max(widths[i], text_width(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < kCells; ++i) {
      row += i == 0 ? "" : "  ";
      row += i >= first && i < end ? pad_left(line[i], widths[i]) : pad_right(line[i], widths[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    row += "\n";
    text += row;
  }
  return text;
}

}  // namespace diarist::output
