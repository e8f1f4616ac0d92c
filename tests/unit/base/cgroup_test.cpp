// Quotas of control groups, on made-up machines. The lines under /proc are as systemd, Docker and
// Kubernetes machines show them (man 7 cgroups, man 5 proc).

#include "base/cgroup.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "support/support.hpp"

namespace diarist::base {
namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* kUnifiedMount =
    "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kOldMounts =
    "31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n";

/// Files below a folder that stands for the root of a machine.
class Machine {
 public:
  explicit Machine(const Files& files) {
    for (const auto& [name, text] : files) {
      const std::filesystem::path file = folder_.path() / name;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
  }
  int processors() const { return quota_processors(folder_.path()); }

 private:
  test::TempFolder folder_;
};

TEST(QuotaProcessors, OfVersionTwoInTheProcessesOwnGroup) {
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/user.slice/job.scope\n"},
                          {"proc/self/mountinfo", kUnifiedMount},
                          {"sys/fs/cgroup/user.slice/job.scope/cpu.max", "250000 100000\n"},
                          {"sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"},
                          {"sys/fs/cgroup/other/cpu.max", "50000 100000\n"}})
                .processors(),
            3);
}

TEST(QuotaProcessors, TheTightestGroupAroundDecides) {
  Files files = {{"proc/self/cgroup", "0::/a/b/c\n"},
                 {"proc/self/mountinfo", kUnifiedMount},
                 {"sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n"},
                 {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                 {"sys/fs/cgroup/a/cpu.max", "200000 50000\n"}};
  EXPECT_EQ(Machine(files).processors(), 4);
  files["sys/fs/cgroup/a/b/c/cpu.max"] = "20000 100000\n";
  EXPECT_EQ(Machine(files).processors(), 1);  // a fifth of a processor still is one thread
}

TEST(QuotaProcessors, OfAContainerThatSeesOnlyItsOwnGroup) {
  // A namespace of its own: the group is the root of the mount.
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/\n"},
                          {"proc/self/mountinfo", kUnifiedMount},
                          {"sys/fs/cgroup/cpu.max", "150000 100000\n"}})
                .processors(),
            2);
  // Without one the mount starts at the group whose full name the process is told.
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/docker/1234\n"},
                          {"proc/self/mountinfo",
                           "29 23 0:26 /docker/1234 /sys/fs/cgroup ro - cgroup2 cgroup rw\n"},
                          {"sys/fs/cgroup/cpu.max", "600000 100000\n"}})
                .processors(),
            6);
  // A process that was moved into the container sees a group outside of what is mounted.
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/../../other\n"},
                          {"proc/self/mountinfo", kUnifiedMount},
                          {"sys/fs/cgroup/cpu.max", "500000 100000\n"},
                          {"sys/other/cpu.max", "100000 100000\n"}})
                .processors(),
            5);
}

TEST(QuotaProcessors, OfVersionOne) {
  Files files = {
      {"proc/self/cgroup",
       "12:cpuset:/pod\n4:cpu,cpuacct:/kubepods/pod7\n1:name=systemd:/init.scope\n0::/\n"},
      {"proc/self/mountinfo", kOldMounts},
      {"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/cpu.cfs_quota_us", "350000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/cpu.cfs_period_us", "100000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu,cpuacct/kubepods/cpu.cfs_period_us", "100000\n"}};
  EXPECT_EQ(Machine(files).processors(), 4);
  files["sys/fs/cgroup/cpu,cpuacct/kubepods/pod7/cpu.cfs_quota_us"] = "-1\n";
  EXPECT_EQ(Machine(files).processors(), 0);
}

TEST(QuotaProcessors, OfBothVersionsAtOnce) {
  Files files = {{"proc/self/cgroup", "3:cpu:/old\n0::/young\n"},
                 {"proc/self/mountinfo",
                  "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                  "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
                 {"sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "700000\n"},
                 {"sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "100000\n"},
                 {"sys/fs/cgroup/unified/young/cpu.max", "1000000 100000\n"}};
  EXPECT_EQ(Machine(files).processors(), 7);
  files.erase("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us");
  EXPECT_EQ(Machine(files).processors(), 10);
}

TEST(QuotaProcessors, NamesWithBlanksAndColons) {
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/my jobs/a:b\n"},
                          {"proc/self/mountinfo",
                           "29 23 0:26 / /mnt/the\\040groups rw - cgroup2 cgroup2 rw\n"},
                          {"mnt/the groups/my jobs/a:b/cpu.max", "300000 100000\n"}})
                .processors(),
            3);
}

TEST(QuotaProcessors, NothingToBeFoundIsNoLimit) {
  EXPECT_EQ(Machine(Files{}).processors(), 0);
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/a\n"}}).processors(), 0);
  EXPECT_EQ(Machine(Files{{"proc/self/cgroup", "0::/a\nrubbish\n:::\n7:cpu\n"},
                          {"proc/self/mountinfo",
                           std::string("- - -\n\n\n1 2 3 4 5 -\n") + kUnifiedMount},
                          {"sys/fs/cgroup/a/cpu.max", "\n"},
                          {"sys/fs/cgroup/cpu.max", "many 100000\n"}})
                .processors(),
            0);
}

TEST(QuotaFolders, InnermostFirst) {
  EXPECT_EQ(
      quota_folders("0::/a/b\n", kUnifiedMount),
      (std::vector<QuotaFolder>{
          {"/sys/fs/cgroup/a/b", true}, {"/sys/fs/cgroup/a", true}, {"/sys/fs/cgroup", true}}));
  EXPECT_EQ(quota_folders("4:cpuacct,cpu:/a\n", kOldMounts),
            (std::vector<QuotaFolder>{{"/sys/fs/cgroup/cpu,cpuacct/a", false},
                                      {"/sys/fs/cgroup/cpu,cpuacct", false}}));
  EXPECT_TRUE(quota_folders("4:cpuacct,cpuset:/a\n", kOldMounts).empty());
  // The mount is /a, and /ab lies beside it.
  EXPECT_EQ(quota_folders("0::/ab\n", "29 23 0:26 /a /g rw - cgroup2 x rw\n"),
            (std::vector<QuotaFolder>{{"/g", true}}));
}

TEST(ProcessorsOfQuota, IsQuotaOverPeriod) {
  EXPECT_EQ(processors_of_quota("150000 100000\n"), 1.5);
  EXPECT_EQ(processors_of_quota("400000\n100000\n"), 4.0);
  for (const char* text : {"", "max 100000", "-1\n100000", "0 100000", "100000", "100000 0",
                           "100000 -5", "1e5 100000", "99999999999999999999 100000"})
    EXPECT_EQ(processors_of_quota(text), std::nullopt) << text;
}

}  // namespace
}  // namespace diarist::base
