#pragma once
// Worker threads for loops whose items are independent.

#include <cstdint>
#include <functional>
#include <memory>

namespace diarist::base {

/// Processors this process may use: affinity mask and the quotas of its control groups, at least 1.
int usable_processors();

/// More threads than any machine we know; every one of them has a workspace.
inline constexpr int kMostThreads = 1024;

/// A fixed set of threads. The calling thread works too, so TaskPool(1) starts none.
/// parallel_for may be called from many threads; the calls are run one after the other. In a child
/// of fork() a pool with threads can be destroyed, nothing else.
class TaskPool {
 public:
  /// \throws Error kInvalidArgument beyond kMostThreads, kOutOfMemory when the system refuses.
  explicit TaskPool(int threads);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  int threads() const noexcept;

  /// Calls body(item, worker) for every item in [0, count); worker is in [0, threads()) and no two
  /// calls with one worker number run at the same time. The first exception is rethrown here after
  /// all workers have stopped; items not yet started are then skipped.
  /// \throws Error kUnsupported in a child of fork() that does not have the threads.
  void parallel_for(std::int64_t count,
                    const std::function<void(std::int64_t item, int worker)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace diarist::base
