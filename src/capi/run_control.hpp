#pragma once
// Callbacks and stop handles of C as a RunControl.

#include <exception>
#include <stop_token>
#include <string>

#include "capi/handles.hpp"
#include "diarist/diarist.h"
#include "diarist/error.hpp"
#include "diarist/run_control.hpp"

namespace diarist::capi {

using Stops = Handles<HandleKind::kStop, diarist_stop, std::stop_source>;

/// A callback that answers with anything but 0 ends the run with Error kCancelled; one that throws
/// with Error kInvalidArgument. \throws Error kInvalidArgument for a stop that is no handle.
RunControl control_of(const diarist_run_options& options);

/// The token of a handle, or one that nobody stops for null.
std::stop_token token_of(diarist_stop* stop);

/// Calls a function of the caller. \throws Error kInvalidArgument when it throws, which functions
/// of C don't.
template <typename Call>
auto call_back(const char* name, Call&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("the ") + name + " callback threw an exception: " + error.what());
  } catch (...) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("the ") + name + " callback threw an exception");
  }
}

}  // namespace diarist::capi
