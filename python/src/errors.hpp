#pragma once
// diarist::Error and its children in Python (diarist/_errors.py).

#include <nanobind/nanobind.h>

#include "diarist/error.hpp"

namespace diarist::python {

/// The exception of Python for one of C++, not raised. The GIL is held.
nanobind::object make_error(const Error& error);

/// Every diarist::Error that leaves a bound function is raised as its class.
void register_errors();

/// \throws Error kInvalidArgument.
[[noreturn]] void fail_argument(const std::string& text);

}  // namespace diarist::python
