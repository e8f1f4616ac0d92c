// The registry: names, and wishes that can't be met.

#include "backend/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "diarist/error.hpp"

namespace diarist::test {
namespace {

ErrorCode code_of(const backend::BackendOptions& options) {
  try {
    backend::make_backend(options);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "a backend was made for " << options.device;
  return ErrorCode::kInternal;
}

TEST(Registry, EveryDeviceCanBeMade) {
  for (const std::string& name : backend::device_names()) {
    const auto device = backend::make_backend({name, 2, ""});
    EXPECT_EQ(device->name(), name);
    EXPECT_EQ(device->threads(), name.rfind("cuda", 0) == 0 ? 1 : 2);
    EXPECT_FALSE(device->kernels().empty());
    EXPECT_GE(device->preferred_items(), 1);
  }
}

TEST(Registry, SupportedTargetsAreCompiledAndCanBeForced) {
  const std::vector<std::string> compiled = backend::cpu_targets_compiled();
  const std::vector<std::string> supported = backend::cpu_targets_supported();
  ASSERT_FALSE(supported.empty());
  for (const std::string& target : supported) {
    EXPECT_NE(std::ranges::find(compiled, target), compiled.end()) << target;
    EXPECT_NE(backend::make_backend({"cpu", 1, target})->kernels().find(target), std::string::npos);
  }
}

TEST(Registry, WishesThatCannotBeMet) {
  EXPECT_EQ(code_of({"abacus", 1, ""}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({"cuda", 1, ""}), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of({"reference", 1, "AVX2"}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({"reference", -1, ""}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of({"cpu", -1, ""}), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace diarist::test
