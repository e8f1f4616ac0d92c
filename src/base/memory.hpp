#pragma once
// What the allocator keeps.

namespace diarist::base {

/// Gives freed memory that the allocator still holds back to the system, where it can be asked to
/// (glibc): medium-sized blocks otherwise stay resident although nobody uses them.
void return_free_memory() noexcept;

}  // namespace diarist::base
