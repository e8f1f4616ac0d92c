// What /proc and the control groups say about quotas. A zero byte ends each of the three texts:
// the groups, the mounts, a quota.

#include "base/cgroup.hpp"

#include <stdexcept>
#include <string_view>

#include "fuzz.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using std::string_literals::operator""s;
  return {
      "0::/user.slice/a b/job.scope\n\0"
      "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n\0"
      "150000 100000\n"s,
      "4:cpu,cpuacct:/docker/12/34\n1:name=systemd:/\n0::/\n\0"
      "33 31 0:30 /docker/12 /sys/fs/cg\\040roup rw - cgroup cgroup rw,cpu,cpuacct\n"
      "41 31 0:38 / /unified rw - cgroup2 cgroup2 rw\n\0-1\n100000\n"s,
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    const std::size_t end = text.find('\0');
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return part;
  };
  const std::string_view groups = next(), mounts = next();
  for (const base::QuotaFolder& folder : base::quota_folders(groups, mounts)) {
    // Nothing that a group is called leads out of the folder where groups are mounted.
    const std::string path = folder.path.string();
    if (path.find("/../") != std::string::npos && mounts.find("..") == std::string_view::npos &&
        mounts.find('\\') == std::string_view::npos)
      throw std::logic_error("a group leads upwards");
  }
  if (const auto processors = base::processors_of_quota(next()); processors && !(*processors > 0))
    throw std::logic_error("a quota that is no number of processors");
  return 0;
}
