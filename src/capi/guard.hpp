#pragma once
// The one door through which calls from C enter: exceptions become codes.

#include <string>
#include <string_view>

#include "diarist/diarist.h"
#include "diarist/error.hpp"

namespace diarist::capi {

/// Remembers the exception in flight as this thread's last failure. \pre inside a catch block.
diarist_status remember_failure() noexcept;

/// Runs the body of a function.
template <typename Body>
diarist_status guarded(Body&& body) noexcept {
  try {
    body();
    return DIARIST_OK;
  } catch (...) {
    return remember_failure();
  }
}

[[noreturn]] void refuse(const std::string& text);

/// \throws Error kInvalidArgument naming the argument when it is null.
template <typename T>
T& not_null(T* pointer, std::string_view name) {
  if (pointer == nullptr) refuse(std::string(name) + " is null");
  return *pointer;
}

}  // namespace diarist::capi
