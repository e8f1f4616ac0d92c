// Structs that begin with their size: nonsense sizes, programs that are older or newer than the
// library.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "diarist/diarist.h"

namespace diarist::test {
namespace {

using Init = diarist_status (*)(void*, std::size_t);

template <typename T, diarist_status (*kInit)(T*, std::size_t)>
diarist_status init(void* memory, std::size_t size) {
  return kInit(static_cast<T*>(memory), size);
}

struct Kind {
  const char* name;
  Init init;
  std::size_t size;
};

const Kind kKinds[] = {
    {"diarist_options", init<diarist_options, diarist_options_init>, sizeof(diarist_options)},
    {"diarist_run_options", init<diarist_run_options, diarist_run_options_init>,
     sizeof(diarist_run_options)},
    {"diarist_audio", init<diarist_audio, diarist_audio_init>, sizeof(diarist_audio)},
    {"diarist_shaping", init<diarist_shaping, diarist_shaping_init>, sizeof(diarist_shaping)},
    {"diarist_embedder_options", init<diarist_embedder_options, diarist_embedder_options_init>,
     sizeof(diarist_embedder_options)},
    {"diarist_voice_options", init<diarist_voice_options, diarist_voice_options_init>,
     sizeof(diarist_voice_options)},
};

TEST(CapiStructs, InitWritesItsBytesAndNoMore) {
  for (const Kind& kind : kKinds) {
    for (const std::size_t more : {std::size_t{0}, std::size_t{8}, std::size_t{64}}) {
      const std::size_t size = kind.size + more;
      std::vector<unsigned char> memory(size + 16, 0xAB);
      ASSERT_EQ(kind.init(memory.data(), size), DIARIST_OK) << kind.name;
      std::size_t written = 0;
      std::memcpy(&written, memory.data(), sizeof written);
      EXPECT_EQ(written, size) << kind.name;
      for (std::size_t i = kind.size; i < size; ++i) EXPECT_EQ(memory[i], 0) << kind.name;
      for (std::size_t i = size; i < memory.size(); ++i) EXPECT_EQ(memory[i], 0xAB) << kind.name;
    }
  }
}

TEST(CapiStructs, NonsenseSizesAreRefusedAndNothingIsWritten) {
  for (const Kind& kind : kKinds) {
    std::vector<unsigned char> memory(256, 0xAB);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{4}, kind.size - 1, std::size_t{1} << 20, ~std::size_t{0}}) {
      EXPECT_EQ(kind.init(memory.data(), size), DIARIST_INVALID_ARGUMENT) << kind.name << size;
      EXPECT_NE(std::string(diarist_last_error()).find(kind.name), std::string::npos);
    }
    EXPECT_EQ(memory, std::vector<unsigned char>(256, 0xAB)) << kind.name;
    EXPECT_EQ(kind.init(nullptr, kind.size), DIARIST_INVALID_ARGUMENT) << kind.name;
  }
}

TEST(CapiStructs, AForgottenInitIsRefused) {
  diarist_options options;
  std::memset(&options, 0, sizeof options);
  diarist_diarizer* diarizer = nullptr;
  EXPECT_EQ(diarist_diarizer_create(&options, &diarizer), DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("struct_size is 0"), std::string::npos);
  std::memset(&options, 0xFE, sizeof options);
  EXPECT_EQ(diarist_diarizer_create(&options, &diarizer), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarizer, nullptr);
}

// A header of the future has members behind those that this library knows.
struct LargerOptions {
  diarist_options known;
  std::uint64_t unknown;
};

TEST(CapiStructs, MembersOfTheFutureMustBeZero) {
  LargerOptions options;
  ASSERT_EQ(diarist_options_init(&options.known, sizeof options), DIARIST_OK);
  EXPECT_EQ(options.unknown, 0U);
  options.known.preset = "nonsense";
  diarist_diarizer* diarizer = nullptr;
  // Its error tells that the rest was read.
  EXPECT_EQ(diarist_diarizer_create(&options.known, &diarizer), DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("nonsense"), std::string::npos);
  options.unknown = 1;
  EXPECT_EQ(diarist_diarizer_create(&options.known, &diarizer), DIARIST_UNSUPPORTED);
  EXPECT_NE(std::string(diarist_last_error()).find("too old"), std::string::npos);
}

TEST(CapiStructs, InfoFillsWhatHasRoom) {
  struct {
    diarist_info known;
    std::uint64_t unknown = 7;
  } info;
  info.known.struct_size = sizeof info;
  ASSERT_EQ(diarist_get_info(&info.known), DIARIST_OK);
  EXPECT_EQ(info.unknown, 0U);
  EXPECT_EQ(info.known.struct_size, sizeof info);
  ASSERT_GE(info.known.device_count, 2U);
  EXPECT_STREQ(info.known.devices[0], "cpu");
  EXPECT_STREQ(info.known.version, diarist_version());
  EXPECT_GE(info.known.preset_count, 4U);
  EXPECT_GE(info.known.audio_reader_count, 1U);
  EXPECT_GE(info.known.cpu_target_count, 1U);
  info.known.struct_size = sizeof(std::size_t);
  EXPECT_EQ(diarist_get_info(&info.known), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_get_info(nullptr), DIARIST_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace diarist::test
