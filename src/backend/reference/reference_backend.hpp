#pragma once
// The oracle: every block in double with plain loops. Other backends are compared with it.

#include <memory>

#include "backend/backend.hpp"

namespace diarist::backend::reference {

/// \param threads items of a batch that are worked on at the same time; 0: all usable processors.
/// \throws Error kInvalidArgument for a negative number.
std::unique_ptr<Backend> make_reference_backend(int threads);

}  // namespace diarist::backend::reference
