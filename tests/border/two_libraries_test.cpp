// Two copies of libdiarist in one process, as two plug-ins bring them: neither sees the other.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "diarist/diarist.h"
#include "support/support.hpp"

namespace diarist::test {
namespace {

class Library {
 public:
  explicit Library(const std::filesystem::path& file)
      : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) ADD_FAILURE() << dlerror();
  }
  ~Library() { dlclose(library_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Function>
  Function* get(const char* name) const {
    auto* const found = reinterpret_cast<Function*>(dlsym(library_, name));
    if (found == nullptr) ADD_FAILURE() << dlerror();
    return found;
  }

 private:
  void* library_;
};

TEST(TwoLibraries, HandlesAndErrorsAreTheirOwn) {
  const TempFolder folder;
  const std::filesystem::path first = folder.path() / "libfirst.so";
  const std::filesystem::path second = folder.path() / "libsecond.so";
  std::filesystem::copy_file(DIARIST_SHARED_FILE, first);
  std::filesystem::copy_file(DIARIST_SHARED_FILE, second);
  const Library a(first), b(second);
  auto* const create_a = a.get<decltype(diarist_stop_create)>("diarist_stop_create");
  auto* const create_b = b.get<decltype(diarist_stop_create)>("diarist_stop_create");
  ASSERT_NE(create_a, create_b);

  diarist_stop* of_a = nullptr;
  diarist_stop* of_b = nullptr;
  ASSERT_EQ(create_a(&of_a), DIARIST_OK);
  ASSERT_EQ(create_b(&of_b), DIARIST_OK);
  EXPECT_NE(of_a, of_b);
  auto* const request_a = a.get<decltype(diarist_stop_request)>("diarist_stop_request");
  auto* const request_b = b.get<decltype(diarist_stop_request)>("diarist_stop_request");
  EXPECT_EQ(request_b(of_a), DIARIST_INVALID_ARGUMENT);
  EXPECT_STREQ(a.get<decltype(diarist_last_error)>("diarist_last_error")(), "");
  EXPECT_STRNE(b.get<decltype(diarist_last_error)>("diarist_last_error")(), "");
  EXPECT_EQ(request_a(of_a), DIARIST_OK);
  EXPECT_EQ(request_b(of_b), DIARIST_OK);
  EXPECT_EQ(a.get<decltype(diarist_open_handles)>("diarist_open_handles")(), 1U);
  EXPECT_EQ(a.get<decltype(diarist_stop_destroy)>("diarist_stop_destroy")(of_a), DIARIST_OK);
  EXPECT_EQ(b.get<decltype(diarist_stop_destroy)>("diarist_stop_destroy")(of_b), DIARIST_OK);
}

// Both read and write; a run of each with a real model.
TEST(TwoLibraries, BothDiarize) {
  DIARIST_NEED(models_folder() / "open");
  DIARIST_NEED(sample_folder() / "sample.wav");
  const TempFolder folder;
  const std::filesystem::path copy = folder.path() / "libsecond.so";
  std::filesystem::copy_file(DIARIST_SHARED_FILE, copy);
  const Library a(DIARIST_SHARED_FILE), b(copy);
  const std::string models = models_folder().string();
  const std::string file = (sample_folder() / "sample.wav").string();
  std::string texts[2];
  for (const Library* library : {&a, &b}) {
    diarist_options options;
    library->get<decltype(diarist_options_init)>("diarist_options_init")(&options, sizeof options);
    options.preset = "open-lite";
    options.models = models.c_str();
    diarist_run_options run;
    library->get<decltype(diarist_run_options_init)>("diarist_run_options_init")(&run, sizeof run);
    run.from = 6;
    run.to = 18;
    diarist_diarizer* diarizer = nullptr;
    diarist_result* result = nullptr;
    char* text = nullptr;
    ASSERT_EQ(library->get<decltype(diarist_diarizer_create)>("diarist_diarizer_create")(&options,
                                                                                         &diarizer),
              DIARIST_OK);
    ASSERT_EQ(library->get<decltype(diarist_diarizer_run_file)>("diarist_diarizer_run_file")(
                  diarizer, file.c_str(), &run, &result),
              DIARIST_OK);
    ASSERT_EQ(library->get<decltype(diarist_result_to_text)>("diarist_result_to_text")(
                  result, "rttm", &text, nullptr),
              DIARIST_OK);
    texts[library == &b ? 1 : 0] = text;
    library->get<decltype(diarist_text_free)>("diarist_text_free")(text);
    library->get<decltype(diarist_result_destroy)>("diarist_result_destroy")(result);
    library->get<decltype(diarist_diarizer_destroy)>("diarist_diarizer_destroy")(diarizer);
  }
  EXPECT_NE(texts[0], "");
  EXPECT_EQ(texts[0], texts[1]);
}

}  // namespace
}  // namespace diarist::test
