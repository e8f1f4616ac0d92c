#pragma once
// Rows of text with aligned columns.

#include <cstddef>
#include <string>
#include <vector>

namespace diarist::cli {

/// Rows with aligned columns, two blanks apart and two in front. Columns from `numbers` on are
/// aligned to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    std::size_t numbers = static_cast<std::size_t>(-1));

}  // namespace diarist::cli
