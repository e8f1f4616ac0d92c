#pragma once
// --dry-run: everything is checked, nothing is done.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "diarist/diarizer.hpp"

namespace diarist::cli {

/// Files that a recording of the list would be written to; none: standard output.
using TargetsOf = std::function<std::vector<std::filesystem::path>(std::size_t)>;

/// Opens every recording as a run would, up to its first window, and checks the places of its
/// results; prints one line for each and complains about those that would fail.
/// \return kOk or kSomeFailed. \throws Error kInvalidArgument for wrong options.
int dry_run(const Diarizer& diarizer, const std::string& device,
            const std::vector<std::string>& inputs, const RunOptions& options,
            const TargetsOf& targets);

/// Refuses a file that could not be written, though the folders on the way may be missing.
/// \throws Error kBadFile.
void check_target(const std::filesystem::path& file);

}  // namespace diarist::cli
