#include "capi/handles.hpp"

#include <pthread.h>

#include <mutex>
#include <string>
#include <unordered_map>

#include "capi/guard.hpp"

namespace diarist::capi {
namespace {

struct Entry {
  HandleKind kind;
  std::shared_ptr<void> object;
};

// Lives as long as the process: objects that nobody destroyed don't die in an order of chance.
struct Table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, Entry> entries;
  std::uintptr_t next = 0;

  static constexpr std::uintptr_t kStep = 16;
};

Table& table() {
  static Table* const kTable = [] {
    auto* made = new Table;
    // Two libraries in one process count from different numbers.
    made->next = reinterpret_cast<std::uintptr_t>(made) * 4096 + Table::kStep;
    // fork() in the middle of another thread's call must not leave the child a lock that nobody
    // opens.
    pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); },
                   [] { table().mutex.unlock(); });
    return made;
  }();
  return *kTable;
}

const char* name_of(HandleKind kind) {
  switch (kind) {
    case HandleKind::kDiarizer:
      return "diarizer";
    case HandleKind::kEmbedder:
      return "embedder";
    case HandleKind::kResult:
      return "result";
    case HandleKind::kStop:
      return "stop";
    case HandleKind::kVoices:
      return "library of voices";
    case HandleKind::kStream:
      return "stream";
  }
  return "handle";
}

// \pre the table is locked.
const Entry& entry_of(HandleKind kind, std::uintptr_t handle) {
  const std::string name = name_of(kind);
  if (handle == 0) refuse(name + " is null");
  const auto found = table().entries.find(handle);
  if (found == table().entries.end())
    refuse(name + " is no handle: it was destroyed, or never made");
  if (found->second.kind != kind)
    refuse(name + " is a handle of another kind: a " + name_of(found->second.kind));
  return found->second;
}

}  // namespace

std::uintptr_t add_handle(HandleKind kind, std::shared_ptr<void> object) {
  const std::lock_guard lock(table().mutex);
  const std::uintptr_t handle = table().next;
  table().entries.emplace(handle, Entry{kind, std::move(object)});
  table().next += Table::kStep;
  return handle;
}

std::shared_ptr<void> find_handle(HandleKind kind, std::uintptr_t handle) {
  const std::lock_guard lock(table().mutex);
  return entry_of(kind, handle).object;
}

void drop_handle(HandleKind kind, std::uintptr_t handle) {
  if (handle == 0) return;
  std::shared_ptr<void> object;  // dies behind the lock
  const std::lock_guard lock(table().mutex);
  object = entry_of(kind, handle).object;
  table().entries.erase(handle);
}

std::size_t count_handles() {
  const std::lock_guard lock(table().mutex);
  return table().entries.size();
}

}  // namespace diarist::capi
