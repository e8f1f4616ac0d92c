#include "backend/cuda/activation_store.hpp"

#include <algorithm>
#include <numeric>

#include "backend/cuda/check.hpp"

namespace diarist::backend::cuda {

Placement place_maps(std::span<const Lifetime> maps) {
  constexpr std::size_t kAlign = 1024;
  Placement placement;
  placement.offsets.assign(maps.size(), 0);
  std::vector<std::size_t> order(maps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return maps[a].first < maps[b].first; });
  struct Taken {
    std::size_t begin, end;
    int last;
  };
  std::vector<Taken> taken;  // sorted by begin
  for (const std::size_t index : order) {
    const Lifetime& map = maps[index];
    if (map.bytes == 0) continue;
    std::erase_if(taken, [&](const Taken& t) { return t.last < map.first; });
    const std::size_t bytes = (map.bytes + kAlign - 1) / kAlign * kAlign;
    std::size_t begin = 0;
    auto before = taken.begin();
    for (; before != taken.end() && before->begin < begin + bytes; ++before) begin = before->end;
    placement.offsets[index] = begin;
    placement.bytes = std::max(placement.bytes, begin + bytes);
    taken.insert(before, {begin, begin + bytes, map.last});
  }
  return placement;
}

void ActivationStore::reserve(std::size_t bytes, cudaStream_t stream) {
  if (bytes <= memory_.bytes()) return;
  const DeviceGuard guard(device_);
  // Never the whole device: another thread may be recording one of its streams.
  if (memory_.bytes() > 0) check(cudaStreamSynchronize(stream), "GPU work");
  ++generation_;
  memory_ = DeviceMemory();  // first, so that old and new need not fit together
  memory_ = DeviceMemory(device_, bytes, "activation maps");
}

}  // namespace diarist::backend::cuda
