#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "diarist/error.hpp"
#include "fetch/download.hpp"
#include "local_server.hpp"
#include "support/support.hpp"

namespace diarist::fetch {
namespace {

namespace fs = std::filesystem;
using test::LocalServer;
using test::ranged;
using test::ServerAnswer;
using test::ServerRequest;

// 300 kB that don't compress and don't repeat.
const std::string& content() {
  static const std::string kContent = [] {
    std::string text;
    std::uint32_t seed = 1;
    while (text.size() < 300000) {
      seed = seed * 1664525U + 1013904223U;
      text += static_cast<char>(seed >> 24);
    }
    return text;
  }();
  return kContent;
}

std::string hash_of(const std::string& text) {
  return base::sha256_hex(std::as_bytes(std::span(text)));
}

class Download : public testing::Test {
 protected:
  HttpRequest request(const LocalServer& server, const std::string& path = "/file.bin") const {
    return {.url = server.url(path),
            .target = target_,
            .sha256 = hash_of(content()),
            .stall_seconds = 5};
  }
  void expect_complete() const {
    EXPECT_EQ(base::read_text(target_), content());
    expect_no_part();
  }
  void expect_no_part() const {
    EXPECT_FALSE(fs::exists(part_));
    EXPECT_FALSE(fs::exists(target_.string() + ".part.tag"));
  }
  void write_part(const std::string& text) const {
    fs::create_directories(part_.parent_path());
    std::ofstream(part_, std::ios::binary) << text;
  }
  void expect_error(const HttpRequest& wanted, ErrorCode code, const std::string& words,
                    const RunControl& control = {}) const {
    try {
      download(wanted, control);
      ADD_FAILURE() << "no error with '" << words << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
    EXPECT_FALSE(fs::exists(target_));
  }

  test::TempFolder temp_;
  fs::path target_ = temp_.path() / "new/folder/file.bin";
  fs::path part_ = temp_.path() / "new/folder/file.bin.part";
};

TEST_F(Download, PlainFile) {
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  std::vector<std::string> lines;
  RunControl control;
  control.log = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
  download(request(server), control);
  expect_complete();
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].header("range"), "");
  EXPECT_EQ(server.requests()[0].header("authorization"), "");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("/file.bin"), std::string::npos);
}

TEST_F(Download, EmptyFileAndUnknownLength) {
  const LocalServer server([](const ServerRequest& r) {
    ServerAnswer answer;
    answer.announce_length = false;
    if (r.path == "/long") answer.body = content();
    return answer;
  });
  HttpRequest wanted = request(server, "/empty");
  wanted.sha256 = hash_of("");
  download(wanted, {});
  EXPECT_EQ(fs::file_size(target_), 0U);
  download(request(server, "/long"), {});
  expect_complete();
}

TEST_F(Download, RedirectsToAnotherPortWithoutTheToken) {
  const LocalServer second([](const ServerRequest& r) { return ranged(r, content()); });
  const LocalServer first([&](const ServerRequest& r) {
    ServerAnswer answer;
    answer.status = 302;
    answer.body = "look elsewhere";
    answer.headers = {{"Location", r.path == "/file.bin" ? "/moved" : second.url("/there")}};
    return answer;
  });
  HttpRequest wanted = request(first);
  wanted.bearer_token = "secret";
  download(wanted, {});
  expect_complete();
  ASSERT_EQ(first.requests().size(), 2U);
  EXPECT_EQ(first.requests()[0].header("authorization"), "Bearer secret");
  EXPECT_EQ(first.requests()[1].path, "/moved");
  EXPECT_EQ(first.requests()[1].header("authorization"), "Bearer secret");
  ASSERT_EQ(second.requests().size(), 1U);
  EXPECT_EQ(second.requests()[0].header("authorization"), "");
}

TEST_F(Download, RedirectsAreLimited) {
  const LocalServer server([](const ServerRequest& r) {
    ServerAnswer answer;
    answer.status = 307;
    if (r.path != "/nowhere") answer.headers = {{"Location", r.path + "x"}};
    return answer;
  });
  expect_error(request(server), ErrorCode::kUnsupported, "redirects");
  EXPECT_LE(server.requests().size(), 12U);
  expect_error(request(server, "/nowhere"), ErrorCode::kUnsupported, "redirect");
  expect_no_part();
}

TEST_F(Download, RedirectsLeaveHttpFamilyNever) {
  const LocalServer server([](const ServerRequest&) {
    return ServerAnswer{.status = 301, .headers = {{"Location", "file:///etc/hostname"}}};
  });
  HttpRequest wanted = request(server);
  wanted.sha256.clear();
  expect_error(wanted, ErrorCode::kUnsupported, "can't be reached");
}

TEST_F(Download, WrongHashThrowsTheFileAway) {
  const LocalServer server([](const ServerRequest& r) { return ranged(r, "something else"); });
  expect_error(request(server), ErrorCode::kBadFile, hash_of("something else"));
  expect_no_part();
}

TEST_F(Download, StallIsAnError) {
  const LocalServer server([](const ServerRequest&) {
    return ServerAnswer{.body = content(), .cut_after = 1000, .stall = true};
  });
  HttpRequest wanted = request(server);
  wanted.stall_seconds = 1;
  const auto start = std::chrono::steady_clock::now();
  expect_error(wanted, ErrorCode::kUnsupported, "no byte for 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(fs::file_size(part_), 1000U);  // kept for the next attempt
}

TEST_F(Download, StallBeforeTheFirstByte) {
  const LocalServer server([](const ServerRequest&) {
    return ServerAnswer{.body = content(), .cut_after = 0, .stall = true};
  });
  HttpRequest wanted = request(server);
  wanted.stall_seconds = 1;
  expect_error(wanted, ErrorCode::kUnsupported, "no byte for 1 s");
  expect_no_part();
}

TEST_F(Download, CutConnectionsAreContinued) {
  std::atomic<int> count = 0;
  const LocalServer server([&](const ServerRequest& r) {
    ServerAnswer answer = ranged(r, content(), "\"v1\"");
    if (++count <= 3) answer.cut_after = 70000;
    return answer;
  });
  std::vector<std::string> warnings;
  RunControl control;
  control.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) warnings.emplace_back(line);
  };
  download(request(server), control);
  expect_complete();
  ASSERT_EQ(server.requests().size(), 4U);
  EXPECT_EQ(server.requests()[1].header("range"), "bytes=70000-");
  EXPECT_EQ(server.requests()[1].header("if-range"), "\"v1\"");
  EXPECT_EQ(server.requests()[3].header("range"), "bytes=210000-");
  EXPECT_EQ(warnings.size(), 3U);
}

TEST_F(Download, EndlessCutsEnd) {
  const LocalServer server(
      [](const ServerRequest&) { return ServerAnswer{.body = content(), .cut_after = 0}; });
  expect_error(request(server), ErrorCode::kUnsupported, "again and again");
  EXPECT_EQ(server.requests().size(), 4U);
}

TEST_F(Download, PartFromLastTimeIsContinued) {
  write_part(content().substr(0, 123456));
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  download(request(server), {});
  expect_complete();
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].header("range"), "bytes=123456-");
}

TEST_F(Download, CompletePartIsTaken) {
  write_part(content());
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  download(request(server), {});
  expect_complete();
  EXPECT_EQ(server.requests().size(), 1U);  // answered with 416 and the right length
}

TEST_F(Download, TooLongPartStartsAfresh) {
  write_part(content() + "more");
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  download(request(server), {});
  expect_complete();
}

TEST_F(Download, ServerWithoutRangesStartsAfresh) {
  write_part(content().substr(0, 1000));
  const LocalServer server([](const ServerRequest&) { return ServerAnswer{.body = content()}; });
  download(request(server), {});
  expect_complete();
}

TEST_F(Download, AnotherRangeThanAskedForIsNotTaken) {
  write_part(content().substr(0, 1000));
  const LocalServer server([](const ServerRequest& r) {
    if (r.header("range").empty()) return ServerAnswer{.body = content()};
    return ServerAnswer{.status = 206,
                        .headers = {{"Content-Range", "bytes 500-299999/300000"}},
                        .body = content().substr(500)};
  });
  download(request(server), {});
  expect_complete();
}

TEST_F(Download, ForeignPartIsReplaced) {
  write_part(std::string(5000, 'x'));  // of another version, without an entity tag
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  download(request(server), {});
  expect_complete();
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(Download, ChangedFileIsFetchedWhole) {
  std::atomic<int> count = 0;
  const LocalServer server([&](const ServerRequest& r) {
    const bool first = ++count == 1;
    ServerAnswer answer =
        first ? ranged(r, std::string(300000, 'x'), "\"old\"") : ranged(r, content(), "\"new\"");
    if (first) answer.cut_after = 50000;
    return answer;
  });
  HttpRequest wanted = request(server);
  wanted.sha256.clear();  // nothing but the entity tag tells the versions apart
  download(wanted, {});
  expect_complete();
}

TEST_F(Download, RefusedAccessNamesTheVariable) {
  const LocalServer server([](const ServerRequest& r) {
    return ServerAnswer{.status = r.path == "/forbidden" ? 403 : 401, .body = "go away"};
  });
  expect_error(request(server), ErrorCode::kInvalidArgument, "set HF_TOKEN");
  HttpRequest wanted = request(server, "/forbidden");
  wanted.bearer_token = "secret";
  expect_error(wanted, ErrorCode::kInvalidArgument, "HF_TOKEN");
  try {
    download(wanted, {});
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
  }
  EXPECT_EQ(server.requests().size(), 3U);  // no retries
  expect_no_part();
}

TEST_F(Download, MissingFile) {
  const LocalServer server(
      [](const ServerRequest&) { return ServerAnswer{.status = 404, .body = "nothing"}; });
  expect_error(request(server), ErrorCode::kNotFound, "/file.bin");
  EXPECT_EQ(server.requests().size(), 1U);
  expect_no_part();
}

TEST_F(Download, BusyServersAreAskedAgain) {
  std::atomic<int> count = 0;
  const LocalServer server([&](const ServerRequest& r) {
    if (++count <= 2) return ServerAnswer{.status = 503, .body = "later"};
    return ranged(r, content());
  });
  download(request(server), {});
  expect_complete();
  const LocalServer broken(
      [&](const ServerRequest&) { return ServerAnswer{.status = 500, .body = "oh"}; });
  fs::remove(target_);
  expect_error(request(broken), ErrorCode::kUnsupported, "500");
}

TEST_F(Download, NoServer) {
  std::string url;
  {
    const LocalServer server([](const ServerRequest&) { return ServerAnswer{}; });
    url = server.url("/x");
  }
  expect_error({.url = url, .target = target_, .stall_seconds = 5}, ErrorCode::kUnsupported,
               "can't be reached");
  expect_error({.url = "ftp://127.0.0.1/x", .target = target_}, ErrorCode::kUnsupported,
               "can't be reached");
}

TEST_F(Download, TooLargeFilesAreRefused) {
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  HttpRequest wanted = request(server);
  wanted.max_bytes = 299999;
  expect_error(wanted, ErrorCode::kBadFile, "299999");
  expect_no_part();
}

TEST_F(Download, StopEndsAWaitingDownloadSoon) {
  const LocalServer server([](const ServerRequest&) {
    return ServerAnswer{.body = content(), .cut_after = 1000, .stall = true};
  });
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  RunControl control;
  control.stop = stop.get_token();
  const auto start = std::chrono::steady_clock::now();
  expect_error(request(server), ErrorCode::kCancelled, "", control);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

TEST_F(Download, TargetsThatCantBeWritten) {
  const LocalServer server([](const ServerRequest& r) { return ranged(r, content()); });
  std::ofstream(temp_.path() / "file") << "no folder";
  HttpRequest wanted = request(server);
  wanted.target = temp_.path() / "file" / "inside.bin";
  expect_error(wanted, ErrorCode::kBadFile, "inside.bin");
}

}  // namespace
}  // namespace diarist::fetch
