#pragma once
// What the control groups of this process leave it of the machine: containers, systemd units and
// batch systems set quotas there that no affinity mask shows.

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace diarist::base {

/// A folder with the files of one control group that may hold a quota.
struct QuotaFolder {
  std::filesystem::path path;
  bool unified = true;  // version 2: cpu.max; version 1: cpu.cfs_quota_us and cpu.cfs_period_us

  bool operator==(const QuotaFolder&) const = default;
};

/// The groups of a process and all groups around them that are to be seen, innermost first.
/// \param groups text of /proc/self/cgroup.
/// \param mounts text of /proc/self/mountinfo. Lines that make no sense are passed over.
std::vector<QuotaFolder> quota_folders(std::string_view groups, std::string_view mounts);

/// Processors that "150000 100000" (microseconds per period) stands for: 1.5. None for "max ...",
/// for a negative quota, which is version 1's word for no limit, and for text of another form.
std::optional<double> processors_of_quota(std::string_view quota_and_period);

/// Processors that the tightest quota around this process allows, parts rounded up; 0: no limit.
/// \param root folder in which proc/ and the mounted groups are looked for.
int quota_processors(const std::filesystem::path& root = "/");

}  // namespace diarist::base
