#pragma once
// One door for errors inside the library.

#include <fmt/format.h>

#include <utility>

#include "diarist/error.hpp"

namespace diarist::base {

/// Throws Error with a formatted text. The text names the object and the cure.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(code, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace diarist::base
