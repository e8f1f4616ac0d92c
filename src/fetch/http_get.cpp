#include "fetch/http_get.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/run_control.hpp"

namespace diarist::fetch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 100;  // how soon a stop is seen
constexpr long kConnectSeconds = 30;

void start_curl_once() {
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kStarted != CURLE_OK) base::fail(ErrorCode::kInternal, "libcurl can't be started");
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// State of one request; curl's callbacks are C functions with a pointer to it.
struct Transfer {
  CURL* handle = nullptr;
  PartFile* part = nullptr;
  std::uint64_t max_bytes = 0;
  std::uint64_t resume_at = 0;  // first byte asked for
  std::optional<std::uint64_t> range_start;
  std::optional<std::uint64_t> total;
  std::string tag;
  bool body_started = false;
  bool body_taken = false;
  bool too_large = false;
  int disk_error = 0;
  Clock::time_point last_byte = Clock::now();

  // A final status line starts a new set of headers.
  void header(std::string_view line) {
    last_byte = Clock::now();
    if (line.starts_with("HTTP/")) {
      range_start.reset();
      total.reset();
      tag.clear();
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "etag" && value.size() < 512 && value.starts_with('"')) tag = value;
    if (name == "content-range") content_range(value);
  }

  // "bytes 100-199/200", "bytes 100-199/*", "bytes */200".
  void content_range(std::string_view value) {
    if (!lower(value).starts_with("bytes ")) return;
    value = trim(value.substr(6));
    const std::size_t slash = value.find('/');
    if (slash == std::string_view::npos) return;
    total = to_number(value.substr(slash + 1));
    range_start = to_number(value.substr(0, value.find('-')));
  }

  // False ends the transfer.
  bool body(std::span<const char> bytes) {
    last_byte = Clock::now();
    if (!body_started) {
      body_started = true;
      long status = 0;
      curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
      if (status == 200) {
        part->restart();  // from the start: the server knows no ranges, or the file has changed
        body_taken = true;
      } else if (status == 206) {
        body_taken = range_start == resume_at && part->size() == resume_at;
        if (!body_taken) return false;  // another range than the one asked for
      }
      if (body_taken && part->size() == 0) part->set_tag(tag);
    }
    if (!body_taken) return true;  // text of an error page
    if (bytes.size() > max_bytes || part->size() > max_bytes - bytes.size()) {
      too_large = true;
      return false;
    }
    if (part->append(bytes)) return true;
    disk_error = errno;
    return false;
  }
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* transfer) {
  static_cast<Transfer*>(transfer)->header({data, size * count});
  return size * count;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* transfer) {
  // Errors may not fly through curl's C frames; part files report by value, the rest is caught.
  try {
    return static_cast<Transfer*>(transfer)->body({data, size * count}) ? size * count : 0;
  } catch (...) {
    static_cast<Transfer*>(transfer)->disk_error = errno != 0 ? errno : EIO;
    return 0;
  }
}

struct FreeEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct FreeMulti {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

bool never_connected(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_OPERATION_TIMEDOUT:
      return true;
    default:
      return false;
  }
}

// Runs the transfer. Empty: stalled.
std::optional<CURLcode> perform(CURLM* multi, CURL* easy, Transfer& transfer, int stall_seconds,
                                const std::stop_token& stop) {
  curl_multi_add_handle(multi, easy);
  std::optional<CURLcode> result;
  const auto stall = std::chrono::seconds(std::max(1, stall_seconds));
  int running = 1;
  while (running > 0) {
    if (curl_multi_perform(multi, &running) != CURLM_OK) break;
    if (stop.stop_requested() || Clock::now() - transfer.last_byte > stall) break;
    if (running > 0) curl_multi_poll(multi, nullptr, 0, kPollMilliseconds, nullptr);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) result = message->data.result;
  }
  curl_multi_remove_handle(multi, easy);
  base::check_stop(stop);
  return result;
}

}  // namespace

HttpReply http_get(const HttpGet& get, PartFile& part, std::uint64_t max_bytes,
                   const std::stop_token& stop) {
  start_curl_once();
  const std::unique_ptr<CURL, FreeEasy> easy(curl_easy_init());
  const std::unique_ptr<CURLM, FreeMulti> multi(curl_multi_init());
  if (!easy || !multi) base::fail(ErrorCode::kOutOfMemory, "no memory for a download");
  Transfer transfer;
  transfer.handle = easy.get();
  transfer.part = &part;
  transfer.max_bytes = max_bytes;
  transfer.resume_at = part.size();
  std::unique_ptr<curl_slist, FreeList> headers;
  const auto add_header = [&](const std::string& line) {
    headers.reset(curl_slist_append(headers.release(), line.c_str()));
  };
  CURL* handle = easy.get();
  char problem[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle, CURLOPT_URL, get.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "diarist");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT,
                   std::clamp<long>(get.stall_seconds, 1, kConnectSeconds));
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, problem);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  if (!get.bearer_token.empty()) add_header("Authorization: Bearer " + get.bearer_token);
  if (transfer.resume_at > 0) {
    add_header("Range: bytes=" + std::to_string(transfer.resume_at) + "-");
    if (!part.tag().empty()) add_header("If-Range: " + part.tag());
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());

  const std::optional<CURLcode> code =
      perform(multi.get(), handle, transfer, get.stall_seconds, stop);
  HttpReply reply;
  reply.total = transfer.total;
  reply.body_taken = transfer.body_taken;
  if (transfer.disk_error != 0) {
    base::fail(ErrorCode::kBadFile, "{}: can't be written ({}); check the free space there",
               part.path().string(), std::strerror(transfer.disk_error));
  }
  if (!code) {
    reply.outcome = Outcome::kStalled;
    return reply;
  }
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  reply.status = static_cast<int>(status);
  char* location = nullptr;
  if (curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &location) == CURLE_OK && location) {
    reply.location = location;
  }
  reply.problem = problem[0] != '\0' ? problem : curl_easy_strerror(*code);
  const bool odd_range = status == 206 && transfer.body_started && !transfer.body_taken;
  if (transfer.too_large) {
    reply.outcome = Outcome::kTooLarge;
  } else if (*code == CURLE_OK || odd_range) {
    reply.outcome = Outcome::kAnswered;
    // An answer without a body is an empty file.
    if (status == 200 && !transfer.body_started) {
      part.restart();
      reply.body_taken = true;
    }
  } else {
    reply.outcome = never_connected(*code) ? Outcome::kNoConnection : Outcome::kCut;
  }
  return reply;
}

std::string origin_of(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), curl_url_cleanup);
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return "";
  std::string origin;
  for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT}) {
    char* text = nullptr;
    if (curl_url_get(parsed.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
    origin += std::string(text) + "|";
    curl_free(text);
  }
  return lower(origin);
}

}  // namespace diarist::fetch
