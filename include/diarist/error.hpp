#pragma once
/// \file
/// The one exception that leaves the library.

#include <stdexcept>
#include <string>

#include "diarist/export.hpp"

namespace diarist {

/// What went wrong, in words a caller can act on.
enum class ErrorCode {
  kInvalidArgument = 1,  ///< an option or argument can't be honoured; change the call
  kNotFound,             ///< a file, folder or device does not exist
  kBadFile,              ///< a file exists but can't be used: damaged, truncated, not audio
  kBadModel,             ///< a model is missing, damaged, or not the one it claims to be
  kUnsupported,          ///< understood, but this build or machine can't do it
  kOutOfMemory,          ///< the host or the device has too little memory left
  kDeviceLost,           ///< the device stopped answering; make a new Diarizer
  kCancelled,            ///< the caller asked to stop
  kInternal,             ///< a bug in diarist; please report it
};

/// Name of a code as it appears in logs and JSON, e.g. "bad_file".
DIARIST_API const char* error_code_name(ErrorCode code) noexcept;

/// Carries a code and one line of text that names the object and the cure.
class DIARIST_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace diarist
