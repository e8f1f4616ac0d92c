// Watching devices that tell something, and such that don't.

#include "diarist/device_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "backend/registry.hpp"

namespace diarist {
namespace {

TEST(DeviceWatch, AProcessorTellsNothing) {
  DeviceWatch watch("cpu", 0.001);
  watch.start();
  EXPECT_TRUE(watch.stop().empty());
  EXPECT_TRUE(watch.stop().empty());
}

TEST(DeviceWatch, EndsWithoutStop) {
  DeviceWatch watch("cuda:0", 3600);
  watch.start();
  watch.start();
}

TEST(DeviceWatch, AGpuTellsClockAndPower) {
  const std::vector<std::string> devices = backend::device_names();
  if (std::find(devices.begin(), devices.end(), "cuda:0") == devices.end())
    GTEST_SKIP() << "needs a GPU";
  DeviceWatch watch("cuda:0", 0.01);
  watch.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::vector<DeviceLoad> loads = watch.stop();
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(loads[0].name, "cuda:0");
  EXPECT_GE(loads[0].seconds, 0.3);
  EXPECT_GE(loads[0].samples, 2);
  EXPECT_GE(loads[0].clock_mhz, loads[0].lowest_clock_mhz);
  EXPECT_GT(loads[0].lowest_clock_mhz, 0);
  EXPECT_GT(loads[0].power_watts, 1);
  EXPECT_GT(loads[0].joules, 0);
}

}  // namespace
}  // namespace diarist
