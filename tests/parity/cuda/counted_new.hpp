#pragma once
// Counts allocations of the whole program.

namespace diarist::test {

/// Since the program started.
long allocations() noexcept;

}  // namespace diarist::test
