// What is said when cuDNN is missing, too old or something else.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "backend/cuda/library/cudnn_library.hpp"
#include "diarist/error.hpp"

namespace diarist::backend::cuda {
namespace {

std::string refusal(std::initializer_list<const char*> names) {
  try {
    const CudnnFunctions functions(std::span(names.begin(), names.size()));
    ADD_FAILURE() << "opened as " << functions.version();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
  return "";
}

TEST(CudnnLoading, MissingLibraryIsNamedWithTheCure) {
  const std::string said = refusal({"libnothing.so.9", "libnothing.so"});
  EXPECT_NE(said.find("libnothing.so.9 ("), std::string::npos) << said;
  EXPECT_NE(said.find("libnothing.so ("), std::string::npos) << said;
  EXPECT_NE(said.find("LD_LIBRARY_PATH"), std::string::npos) << said;
}

TEST(CudnnLoading, OldVersionIsRefused) {
  if (!std::filesystem::exists(DIARIST_OLD_CUDNN))
    GTEST_SKIP() << "the build's " << DIARIST_OLD_CUDNN << " did not come along";
  const std::string said = refusal({"libnothing.so.9", DIARIST_OLD_CUDNN});
  EXPECT_NE(said.find("cuDNN 8.9"), std::string::npos) << said;
  EXPECT_NE(said.find("version 9 is needed"), std::string::npos) << said;
}

TEST(CudnnLoading, ForeignLibraryIsRefused) {
  const std::string said = refusal({"libm.so.6"});
  EXPECT_NE(said.find("libm.so.6 has no cudnnGetVersion"), std::string::npos) << said;
}

}  // namespace
}  // namespace diarist::backend::cuda
