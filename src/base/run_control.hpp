#pragma once
// Helpers around the caller's RunControl.

#include <string_view>

#include "base/error.hpp"
#include "diarist/run_control.hpp"

namespace diarist::base {

/// Throws Error kCancelled when the caller asked to stop.
/// Not inline: tests put a clock in its place at link time, to see how far apart looks are.
void check_stop(const std::stop_token& stop);

inline void log(const RunControl& control, LogLevel level, std::string_view text) {
  if (control.log) control.log(level, text);
}

}  // namespace diarist::base
