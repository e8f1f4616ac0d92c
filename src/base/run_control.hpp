#pragma once
// Helpers around the caller's RunControl.

#include <string_view>

#include "base/error.hpp"
#include "diarist/run_control.hpp"

namespace diarist::base {

/// Throws Error kCancelled when the caller asked to stop.
inline void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) fail(ErrorCode::kCancelled, "stopped on request");
}

inline void log(const RunControl& control, LogLevel level, std::string_view text) {
  if (control.log) control.log(level, text);
}

}  // namespace diarist::base
