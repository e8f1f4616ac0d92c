#pragma once
// Public objects whose content was moved away.

#include "base/error.hpp"

namespace diarist::pipeline {

/// What an object is made of. \throws Error kInvalidArgument when it was moved from.
template <typename Pointer>
auto& alive(const Pointer& impl, const char* name) {
  if (!impl)
    base::fail(ErrorCode::kInvalidArgument, "this {} was moved from; use the one it went to", name);
  return *impl;
}

}  // namespace diarist::pipeline
