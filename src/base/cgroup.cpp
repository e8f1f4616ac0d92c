#include "base/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace diarist::base {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20;  // of a file under /proc; more is cut off

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMostText, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  return text;
}

/// Takes the text up to `end` (or all of it) off the front.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

std::vector<std::string_view> split(std::string_view text, char end) {
  std::vector<std::string_view> parts;
  while (!text.empty()) parts.push_back(take(text, end));
  return parts;
}

bool has_word(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

/// mountinfo writes blanks and backslashes of a path as three octal digits.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = -1;
    if (text[i] == '\\' && i + 3 < text.size()) {
      const char* const first = text.data() + i + 1;
      const auto read = std::from_chars(first, first + 3, code, 8);
      if (read.ec != std::errc() || read.ptr != first + 3 || code > 255) code = -1;
    }
    plain += code < 0 ? text[i] : static_cast<char>(code);
    if (code >= 0) i += 3;
  }
  return plain;
}

/// A hierarchy of groups as this process sees it.
struct Mount {
  std::string root;  // the group that lies at `point`
  std::filesystem::path point;
  bool unified;
};

std::vector<Mount> mounts_of(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(text, '\n')) {
    // 31 23 0:28 ROOT POINT OPTIONS [more...] - TYPE SOURCE OPTIONS
    const std::vector<std::string_view> words = split(line, ' ');
    const auto dash = std::ranges::find(words, std::string_view("-"));
    if (words.size() < 6 || words.end() - dash < 3) continue;
    const std::string_view type = dash[1];
    const bool unified = type == "cgroup2";
    const bool processors = type == "cgroup" && words.end() - dash > 3 && has_word(dash[3], "cpu");
    if (unified || processors)
      mounts.push_back({unescaped(words[3]), unescaped(words[4]), unified});
  }
  return mounts;
}

/// The group's folder below the mount's, relative. Empty where the group can't be seen from here
/// (another root, or names that lead upwards): then the mounted group itself has to do.
std::filesystem::path below(const Mount& mount, std::string_view group) {
  if (!group.starts_with(mount.root)) return {};
  group.remove_prefix(mount.root.size());
  if (mount.root != "/" && !group.empty() && group.front() != '/') return {};
  std::filesystem::path folder;
  for (const std::string_view name : split(group, '/')) {
    if (name == "..") return {};
    if (!name.empty() && name != ".") folder /= name;
  }
  return folder;
}

}  // namespace

std::vector<QuotaFolder> quota_folders(std::string_view groups, std::string_view mounts) {
  std::vector<QuotaFolder> folders;
  const std::vector<Mount> mounted = mounts_of(mounts);
  for (std::string_view line : split(groups, '\n')) {
    // 4:cpu,cpuacct:/group, and of version 2 0::/group
    const std::string_view number = take(line, ':'), controllers = take(line, ':');
    const bool unified = number == "0" && controllers.empty();
    if (!line.starts_with('/') || (!unified && !has_word(controllers, "cpu"))) continue;
    for (const Mount& mount : mounted) {
      if (mount.unified != unified) continue;
      for (std::filesystem::path folder = below(mount, line);; folder = folder.parent_path()) {
        folders.push_back({folder.empty() ? mount.point : mount.point / folder, unified});
        if (folder.empty()) break;
      }
    }
  }
  return folders;
}

std::optional<double> processors_of_quota(std::string_view quota_and_period) {
  const auto number = [&]() -> std::optional<std::int64_t> {
    while (quota_and_period.starts_with(' ') || quota_and_period.starts_with('\n'))
      quota_and_period.remove_prefix(1);
    std::int64_t value = 0;
    const char* const begin = quota_and_period.begin();
    const auto read = std::from_chars(begin, quota_and_period.end(), value);
    if (read.ec != std::errc() || value <= 0) return std::nullopt;
    quota_and_period.remove_prefix(static_cast<std::size_t>(read.ptr - begin));
    return value;
  };
  const std::optional<std::int64_t> quota = number();
  const std::optional<std::int64_t> period = quota ? number() : std::nullopt;
  if (!period) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

int quota_processors(const std::filesystem::path& root) {
  double least = std::numeric_limits<double>::infinity();
  for (const QuotaFolder& folder :
       quota_folders(text_of(root / "proc/self/cgroup"), text_of(root / "proc/self/mountinfo"))) {
    const std::filesystem::path place = root / folder.path.relative_path();
    const std::string text =
        folder.unified ? text_of(place / "cpu.max")
                       : text_of(place / "cpu.cfs_quota_us") + text_of(place / "cpu.cfs_period_us");
    if (const auto processors = processors_of_quota(text)) least = std::min(least, *processors);
  }
  // Whoever is given a thousand processors has no limit that matters here.
  return least < 1e6 ? std::max(1, static_cast<int>(std::ceil(least))) : 0;
}

}  // namespace diarist::base
