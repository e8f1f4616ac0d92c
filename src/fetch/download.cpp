// HTTP(S) downloads. Redirects are followed here and not by libcurl, so that the token's reach and
// the bytes that land in the .part file are decided in one place.

#include "fetch/download.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "base/sha256.hpp"
#include "fetch/http_get.hpp"
#include "fetch/part_file.hpp"

namespace diarist::fetch {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxRedirects = 10;
constexpr int kMaxFruitlessAttempts = 4;  // in a row, without a new byte
constexpr int kMaxAttempts = 30;

// Sleeps unless the caller stops. \throws Error kCancelled.
void wait(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, stop, time, [] { return false; });
  base::check_stop(stop);
}

[[noreturn]] void refuse_status(const std::string& url, const HttpReply& reply, bool had_token) {
  if (reply.status == 401 || reply.status == 403) {
    base::fail(ErrorCode::kInvalidArgument, "{}: access refused ({}); {}", url, reply.status,
               had_token ? "the token in HF_TOKEN or DIARIST_HUB_TOKEN has no right to it: accept "
                           "the model's conditions on the hub, or use another token"
                         : "set HF_TOKEN or DIARIST_HUB_TOKEN to a token that may read it");
  }
  if (reply.status == 404 || reply.status == 410) {
    base::fail(ErrorCode::kNotFound, "{}: not there ({}); check the address", url, reply.status);
  }
  base::fail(ErrorCode::kUnsupported, "{}: the server answered {}; try again later", url,
             reply.status);
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool worth_retrying(int status) { return status == 408 || status == 429 || status >= 500; }

// One attempt: through the redirects to an answer, whose body goes to the part file.
HttpReply get_once(const HttpRequest& request, PartFile& part, const RunControl& control) {
  std::string url = request.url;
  const std::string first_host = origin_of(url);
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    HttpGet get;
    get.url = url;
    get.stall_seconds = request.stall_seconds;
    if (origin_of(url) == first_host) get.bearer_token = request.bearer_token;
    const HttpReply reply = http_get(get, part, request.max_bytes, control.stop);
    if (reply.outcome != Outcome::kAnswered || !is_redirect(reply.status)) return reply;
    if (reply.location.empty()) {
      base::fail(ErrorCode::kUnsupported, "{}: a redirect without an address; try again later",
                 url);
    }
    if (url.starts_with("https:") && !reply.location.starts_with("https:")) {
      base::fail(ErrorCode::kUnsupported, "{}: redirected from https to {}, which is not followed",
                 url, reply.location);
    }
    url = reply.location;
  }
  base::fail(ErrorCode::kUnsupported, "{}: more than {} redirects; check the address", request.url,
             kMaxRedirects);
}

[[noreturn]] void give_up(const HttpRequest& request, const HttpReply& reply) {
  if (reply.outcome == Outcome::kAnswered) {
    refuse_status(request.url, reply, !request.bearer_token.empty());
  }
  base::fail(
      ErrorCode::kUnsupported,
      "{}: the connection breaks again and again ({}); try again, the part that came is kept",
      request.url, reply.problem);
}

// True when the part is complete, false when it is worth another attempt. \throws Error otherwise.
bool judge(const HttpRequest& request, const HttpReply& reply, PartFile& part) {
  switch (reply.outcome) {
    case Outcome::kAnswered:
      break;
    case Outcome::kCut:
      return false;
    case Outcome::kStalled:
      base::fail(ErrorCode::kUnsupported,
                 "{}: no byte for {} s; try again, the part that came is kept", request.url,
                 request.stall_seconds);
    case Outcome::kNoConnection:
      base::fail(
          ErrorCode::kUnsupported,
          "{}: can't be reached ({}); check the network, or get the files elsewhere and use: "
          "diarist models import",
          request.url, reply.problem);
    case Outcome::kTooLarge:
      part.discard();
      base::fail(ErrorCode::kBadFile, "{}: larger than the {} bytes expected at most", request.url,
                 request.max_bytes);
  }
  if (reply.status == 416) {
    // Asked for bytes behind the end: everything is here already, or the part is of another file.
    if (part.size() > 0 && reply.total == part.size()) return true;
    part.restart();
    return false;
  }
  if (reply.status == 200 || reply.status == 206) {
    if (!reply.body_taken) part.restart();  // an answer to another range than the one asked for
    return reply.body_taken;
  }
  if (!worth_retrying(reply.status)) {
    refuse_status(request.url, reply, !request.bearer_token.empty());
  }
  return false;
}

// Until the part file is complete.
void complete(const HttpRequest& request, PartFile& part, const RunControl& control) {
  int fruitless = 0;
  for (int attempt = 1;; ++attempt) {
    const std::uint64_t before = part.size();
    const HttpReply reply = get_once(request, part, control);
    if (judge(request, reply, part)) return;
    fruitless = part.size() > before ? 0 : fruitless + 1;
    if (fruitless >= kMaxFruitlessAttempts || attempt >= kMaxAttempts) give_up(request, reply);
    base::log(control, LogLevel::kWarning,
              fmt::format("{}: interrupted at byte {}, trying again", request.url, part.size()));
    wait(std::chrono::milliseconds(100 << fruitless), control.stop);
  }
}

}  // namespace

void download(const HttpRequest& request, const RunControl& control) {
  base::check_stop(control.stop);
  PartFile part(request.target);
  bool continued = part.size() > 0;
  base::log(control, LogLevel::kInfo,
            fmt::format("{} {}", continued ? "continuing" : "downloading", request.url));
  for (;;) {
    complete(request, part, control);
    const std::string found = request.sha256.empty() ? "" : base::sha256_file(part.path());
    if (found == request.sha256) break;
    if (continued) {  // perhaps the old part was of another version: once more, from the start
      base::log(control, LogLevel::kWarning,
                request.url + ": the part from last time doesn't fit, starting afresh");
      part.restart();
      continued = false;
      continue;
    }
    part.discard();
    base::fail(ErrorCode::kBadFile,
               "{}: its sha256 is {} instead of {}; the file was thrown away, try again or use "
               "another source",
               request.url, found, request.sha256);
  }
  part.publish(request.target);
}

}  // namespace diarist::fetch
