// pip_download against a program that plays Python with pip: it notes its arguments and does what
// the test asks for.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "diarist/error.hpp"
#include "fetch/download.hpp"
#include "support/support.hpp"

namespace diarist::fetch {
namespace {

namespace fs = std::filesystem;

class Pip : public testing::Test {
 protected:
  // A script in place of the interpreter. $dest is the folder asked for.
  std::string python(const std::string& body) {
    const fs::path script = temp_.path() / "python";
    std::ofstream(script) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" << arguments_.string()
                          << "'\nwhile [ $# -gt 1 ]; do [ \"$1\" = --dest ] && dest=$2; shift; "
                             "done\nsleep_soundly() { exec sleep 60; }\n"
                          << body << "\n";
    ::chmod(script.c_str(), 0755);
    return script.string();
  }
  PipRequest request(const std::string& body) {
    const std::string wheel = "wheel content";
    return {.python = python(body),
            .package = "some-package",
            .version = "1.2.3",
            .platforms = {"manylinux_2_28_x86_64", "manylinux_2_24_x86_64"},
            .python_version = "311",
            .abi = "cp311",
            .sha256 = base::sha256_hex(std::as_bytes(std::span(wheel))),
            .folder = temp_.path() / "wheels"};
  }
  void expect_error(const PipRequest& wanted, ErrorCode code, const std::string& words,
                    const RunControl& control = {}) {
    try {
      pip_download(wanted, control);
      ADD_FAILURE() << "no error with '" << words << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }

  test::TempFolder temp_;
  fs::path arguments_ = temp_.path() / "arguments";
  const std::string good_ =
      "printf 'wheel content' > \"$dest/Some_Package-1.2.3-cp311-cp311-any.whl\"";
};

TEST_F(Pip, AsksForOneWheelByNameAndVersion) {
  const fs::path wheel = pip_download(request(good_), {});
  EXPECT_EQ(wheel, temp_.path() / "wheels/Some_Package-1.2.3-cp311-cp311-any.whl");
  EXPECT_EQ(base::read_text(wheel), "wheel content");
  const std::string arguments = "\n" + base::read_text(arguments_);
  EXPECT_EQ(arguments.find("\n-m\npip\ndownload\n"), 0U);
  for (const char* wanted :
       {"\n--no-deps\n", "\n--only-binary=:all:\n", "\n--python-version\n311\n", "\n--abi\ncp311\n",
        "\n--platform\nmanylinux_2_28_x86_64\n", "\n--platform\nmanylinux_2_24_x86_64\n",
        "\nsome-package==1.2.3\n"}) {
    EXPECT_NE(arguments.find(wanted), std::string::npos) << wanted << " in " << arguments;
  }
}

TEST_F(Pip, AWheelFromLastTimeNeedsNoPip) {
  pip_download(request(good_), {});
  fs::remove(arguments_);
  pip_download(request("exit 1"), {});
  EXPECT_FALSE(fs::exists(arguments_));
}

TEST_F(Pip, SpacesAndShellSignsAreNoTrouble) {
  PipRequest wanted = request(good_);
  wanted.folder = temp_.path() / "a folder; $(touch x) 'quoted'";
  EXPECT_TRUE(fs::exists(pip_download(wanted, {})));
  EXPECT_FALSE(fs::exists("x"));
}

TEST_F(Pip, WrongWheelIsThrownAway) {
  PipRequest wanted = request("printf 'other' > \"$dest/some_package-1.2.3-cp311-cp311-any.whl\"");
  expect_error(wanted, ErrorCode::kBadFile, "sha256");
  EXPECT_TRUE(fs::is_empty(wanted.folder));
}

TEST_F(Pip, OtherPackagesDontCount) {
  expect_error(request("printf 'wheel content' > \"$dest/other-1.2.3-py3-none-any.whl\""),
               ErrorCode::kUnsupported, "no wheel");
  expect_error(request("exit 0"), ErrorCode::kUnsupported, "no wheel");
}

TEST_F(Pip, FailureTellsPipsLastWords) {
  expect_error(request("echo noise; echo 'ERROR: No matching distribution found' >&2; "
                       "echo '  ' >&2; echo 'notice: new pip' >&2; exit 3"),
               ErrorCode::kUnsupported, "code 3: ERROR: No matching distribution found");
  expect_error(request("echo 'No module named pip' >&2; exit 1"), ErrorCode::kUnsupported,
               "No module named pip");
  expect_error(request("exit 1"), ErrorCode::kUnsupported, "it said nothing");
  expect_error(request("kill -9 $$"), ErrorCode::kUnsupported, "code 137");
}

TEST_F(Pip, MuchOutputDoesNotBlock) {
  EXPECT_NO_THROW(
      pip_download(request("i=0; while [ $i -lt 20000 ]; do echo 'a line of a talkative program'; "
                           "i=$((i+1)); done; " +
                           good_),
                   {}));
}

TEST_F(Pip, MissingPython) {
  PipRequest wanted = request(good_);
  wanted.python = "no-such-python-anywhere";
  expect_error(wanted, ErrorCode::kUnsupported, "no-such-python-anywhere");
}

TEST_F(Pip, StopEndsTheChild) {
  for (const char* body : {"sleep_soundly", "trap '' TERM; sleep_soundly"}) {
    std::stop_source stop;
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      stop.request_stop();
    });
    RunControl control;
    control.stop = stop.get_token();
    const auto start = std::chrono::steady_clock::now();
    expect_error(request(body), ErrorCode::kCancelled, "", control);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  }
}

}  // namespace
}  // namespace diarist::fetch
