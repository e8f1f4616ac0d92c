#include "backend/cuda/cuda_queue.hpp"

#include <cstring>

#include "backend/cuda/check.hpp"
#include "backend/cuda/kernels/pcm16.hpp"

namespace diarist::backend::cuda {
namespace {

// A larger copy is made piece by piece, so that page-locked memory stays small and the next piece
// is filled while the device reads the last one.
constexpr std::size_t kUploadPiece = std::size_t{8} << 20;
// Beyond this much waiting page-locked memory, a download waits for the device instead.
constexpr std::size_t kLargestDownload = std::size_t{64} << 20;

void check_range(const Buffer& buffer, std::size_t offset, std::size_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    base::fail(ErrorCode::kInternal, "copy of {} bytes at {} leaves a buffer of {}", bytes, offset,
               buffer.bytes());
}

std::byte* data_of(const Buffer& buffer) { return static_cast<const CudaBuffer&>(buffer).data(); }

class EventMark final : public Mark {
 public:
  EventMark() { check(cudaEventCreate(&event_), "event"); }
  ~EventMark() override { cudaEventDestroy(event_); }
  cudaEvent_t event() const noexcept { return event_; }
  std::uint64_t downloads = 0;  // the number of the last one before it

 private:
  cudaEvent_t event_ = nullptr;
};

EventMark& event_of(Mark& mark) { return static_cast<EventMark&>(mark); }
const EventMark& event_of(const Mark& mark) { return static_cast<const EventMark&>(mark); }

}  // namespace

CudaQueue::CudaQueue(int device) : device_(device), owned_(true), pool_(device) {
  const DeviceGuard guard(device);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
}

CudaQueue::~CudaQueue() {
  // The caller's null stream means that of the current device.
  int previous = 0;
  cudaGetDevice(&previous);
  if (previous != device_) cudaSetDevice(device_);
  cudaStreamSynchronize(stream_);
  if (owned_) cudaStreamDestroy(stream_);
  if (previous != device_) cudaSetDevice(previous);
}

void CudaQueue::upload(Buffer& target, std::size_t offset, std::span<const std::byte> source) {
  check_range(target, offset, source.size());
  const DeviceGuard guard(device_);
  for (std::size_t done = 0; done < source.size(); done += kUploadPiece) {
    const std::span<const std::byte> piece =
        source.subspan(done, std::min(kUploadPiece, source.size() - done));
    PinnedPool::Block& block = pool_.take(piece.size());
    std::memcpy(block.data, piece.data(), piece.size());
    check(cudaMemcpyAsync(data_of(target) + offset + done, block.data, piece.size(),
                          cudaMemcpyHostToDevice, stream_),
          "upload");
    check(cudaEventRecord(block.released, stream_), "event");
  }
}

void CudaQueue::upload_pcm16(Buffer& target, std::size_t first,
                             std::span<const std::int16_t> source) {
  check_range(target, 4 * first, 4 * source.size());
  const DeviceGuard guard(device_);
  constexpr std::size_t kPiece = kUploadPiece / sizeof(std::int16_t);
  float* const to = reinterpret_cast<float*>(data_of(target)) + first;
  for (std::size_t done = 0; done < source.size(); done += kPiece) {
    const std::span<const std::int16_t> piece =
        source.subspan(done, std::min(kPiece, source.size() - done));
    PinnedPool::Block& block = pool_.take(piece.size_bytes());
    std::memcpy(block.data, piece.data(), piece.size_bytes());
    // The kernel reads the host's memory itself: no copy of the 16-bit samples on the device.
    check(launch_pcm16(reinterpret_cast<const std::int16_t*>(block.data), to + done,
                       static_cast<std::int64_t>(piece.size()), stream_),
          "16-bit upload");
    check(cudaEventRecord(block.released, stream_), "event");
  }
}

void CudaQueue::download(const Buffer& source, std::size_t offset, std::span<std::byte> target) {
  check_range(source, offset, target.size());
  if (target.empty()) return;
  const DeviceGuard guard(device_);
  if (target.size() > kLargestDownload) {
    check(cudaMemcpyAsync(target.data(), data_of(source) + offset, target.size(),
                          cudaMemcpyDeviceToHost, stream_),
          "download");
    return;
  }
  PinnedPool::Block& block = pool_.take(target.size());
  check(cudaMemcpyAsync(block.data, data_of(source) + offset, target.size(), cudaMemcpyDeviceToHost,
                        stream_),
        "download");
  check(cudaEventRecord(block.released, stream_), "event");
  block.held = true;
  pending_.push_back({&block, target, ++number_});
}

void CudaQueue::collect(std::uint64_t number) {
  std::size_t done = 0;
  for (; done < pending_.size() && pending_[done].number <= number; ++done) {
    const Pending& it = pending_[done];
    std::memcpy(it.target.data(), it.block->data, it.target.size());
    it.block->held = false;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
}

void CudaQueue::wait() {
  const DeviceGuard guard(device_);
  check(cudaStreamSynchronize(stream_), "GPU work");
  collect(number_);
}

std::unique_ptr<Mark> CudaQueue::make_mark() {
  const DeviceGuard guard(device_);
  return std::make_unique<EventMark>();
}

void CudaQueue::set(Mark& mark) {
  const DeviceGuard guard(device_);
  EventMark& it = event_of(mark);
  check(cudaEventRecord(it.event(), stream_), "event");
  it.downloads = number_;
}

void CudaQueue::wait_for(Mark& mark) {
  const DeviceGuard guard(device_);
  const EventMark& it = event_of(mark);
  check(cudaEventSynchronize(it.event()), "GPU work");
  collect(it.downloads);
}

double CudaQueue::seconds_between(const Mark& from, const Mark& to) {
  const DeviceGuard guard(device_);
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, event_of(from).event(), event_of(to).event()), "event");
  return 1e-3 * double{elapsed};
}

}  // namespace diarist::backend::cuda
