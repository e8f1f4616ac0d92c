#include "base/task_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "expect_error.hpp"

namespace diarist::base {
namespace {

TEST(TaskPool, EveryItemOnce) {
  for (const int threads : {-1, 0, 1, 2, 5}) {
    TaskPool pool(threads);
    EXPECT_EQ(pool.threads(), std::max(1, threads));
    for (const std::int64_t count : {-3, 0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> hits(
          static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
      pool.parallel_for(count,
                        [&](std::int64_t item, int) { ++hits[static_cast<std::size_t>(item)]; });
      for (const auto& hit : hits) ASSERT_EQ(hit, 1);
    }
  }
}

TEST(TaskPool, WorkerNumbersAreExclusive) {
  TaskPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> bad{0};
  for (int round = 0; round < 50; ++round) {
    pool.parallel_for(64, [&](std::int64_t, int worker) {
      if (worker < 0 || worker >= 4) {
        ++bad;
        return;
      }
      if (inside[static_cast<std::size_t>(worker)].fetch_add(1) != 0) ++bad;
      std::this_thread::yield();
      --inside[static_cast<std::size_t>(worker)];
    });
  }
  EXPECT_EQ(bad, 0);
}

TEST(TaskPool, AllWorkersTakePart) {
  TaskPool pool(3);
  std::mutex mutex;
  std::set<int> workers;
  std::atomic<int> arrived{0};
  // Three items that wait for each other (at most 20 s): only three workers can finish them.
  pool.parallel_for(3, [&](std::int64_t, int worker) {
    ++arrived;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 3 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    workers.insert(worker);
  });
  EXPECT_EQ(workers, (std::set<int>{0, 1, 2}));
}

TEST(TaskPool, FirstExceptionComesBackAfterAllStopped) {
  TaskPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> running{0}, started{0};
    bool caught = false;
    try {
      pool.parallel_for(100000, [&](std::int64_t item, int) {
        ++running;
        ++started;
        if (item == 10) {
          --running;
          throw std::runtime_error("item 10");
        }
        std::this_thread::yield();
        --running;
      });
    } catch (const std::runtime_error& error) {
      caught = std::string(error.what()) == "item 10";
      EXPECT_EQ(running, 0);
    }
    EXPECT_TRUE(caught);
    EXPECT_LT(started, 100000);  // the rest was skipped
  }
  int sum = 0;  // and the pool still works
  std::mutex mutex;
  pool.parallel_for(10, [&](std::int64_t item, int) {
    const std::lock_guard lock(mutex);
    sum += static_cast<int>(item);
  });
  EXPECT_EQ(sum, 45);
}

TEST(TaskPool, EveryItemThrows) {
  TaskPool pool(4);
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(pool.parallel_for(16, [](std::int64_t, int) { throw std::logic_error("no"); }),
                 std::logic_error);
  }
}

TEST(TaskPool, ManyCallers) {
  TaskPool pool(3);
  std::atomic<int> loops{0}, overlapping{0};
  std::atomic<std::int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 40; ++round) {
        std::atomic<std::int64_t> mine{0};
        const std::int64_t count = 1 + (caller + round) % 9;
        pool.parallel_for(count, [&](std::int64_t item, int) {
          if (item == 0 && loops.fetch_add(1) != 0) ++overlapping;
          if (item == 0) --loops;
          mine += item + 1;
        });
        if (mine == count * (count + 1) / 2) ++total;
      }
    });
  }
  for (std::thread& thread : callers) thread.join();
  EXPECT_EQ(total, 6 * 40);
  EXPECT_EQ(overlapping, 0);  // the calls ran one after the other
}

TEST(TaskPool, RefusesMoreThreadsThanCanWork) {
  test::expect_error(ErrorCode::kInvalidArgument, "at most 1024",
                     [] { TaskPool pool(kMostThreads + 1); });
}

TEST(TaskPool, StartsAndStops) {
  for (int i = 0; i < 100; ++i) TaskPool pool(4);
  EXPECT_GE(usable_processors(), 1);
}

}  // namespace
}  // namespace diarist::base
