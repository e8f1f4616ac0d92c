#pragma once
// One HTTP request, without redirects and retries.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "fetch/part_file.hpp"

namespace diarist::fetch {

struct HttpGet {
  std::string url;
  std::string bearer_token;
  int stall_seconds = 30;
};

enum class Outcome {
  kAnswered,      // a complete answer; see status
  kCut,           // the connection broke in the middle
  kStalled,       // no byte for stall_seconds
  kNoConnection,  // no such host, refused, bad certificate
  kTooLarge,
};

struct HttpReply {
  Outcome outcome = Outcome::kCut;
  int status = 0;
  std::string location;                // absolute, of a redirect
  std::optional<std::uint64_t> total;  // whole size by Content-Range
  bool body_taken = false;             // the body belongs to, and is now in, the part file
  std::string problem;
};

/// Asks for the bytes behind the part's end (all of them when it is empty; the part is emptied when
/// the server sends the file from the start) and appends them. Other answers leave the part alone.
/// \throws Error kCancelled, kBadFile (disk full).
HttpReply http_get(const HttpGet& get, PartFile& part, std::uint64_t max_bytes,
                   const std::stop_token& stop);

/// scheme://host:port of an address, lower case, default ports filled in; empty when malformed.
std::string origin_of(const std::string& url);

}  // namespace diarist::fetch
