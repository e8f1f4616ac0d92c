// The public embedder on every device of the build: batches, memory of the device, DLPack, threads
// and spans, in every precision.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <thread>
#include <tuple>

#include "../../unit/embedder/chunks.hpp"
#include "backend/registry.hpp"
#include "support/odd_audio.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

class EmbedderDevice : public testing::TestWithParam<std::tuple<std::string, Precision>> {
 protected:
  static EmbedderOptions options(int batch) {
    EmbedderOptions made = synthetic_embedder();
    made.device = std::get<0>(GetParam());
    made.precision = std::get<1>(GetParam());
    made.batch = batch;
    return made;
  }
  static bool on_gpu() { return std::get<0>(GetParam()).rfind("cuda", 0) == 0; }
};

/// Numbers in the memory of a device, reached through a backend of its own.
class OnDevice {
 public:
  OnDevice(backend::Backend& backend, std::span<const float> values)
      : queue_(backend.make_queue()), buffer_(backend.allocate(values.size_bytes())) {
    queue_->upload(*buffer_, 0, std::as_bytes(values));
    queue_->wait();
    const std::string name = backend.name();
    if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
      tensor.kind = DeviceTensor::Kind::kCuda;
      tensor.device = std::stoi(name.substr(colon + 1));
    }
    tensor.data = static_cast<float*>(buffer_->address());
    tensor.elements = static_cast<std::int64_t>(values.size());
  }
  std::vector<float> read() const {
    std::vector<float> values(static_cast<std::size_t>(tensor.elements));
    queue_->download(*buffer_, 0, std::as_writable_bytes(std::span(values)));
    queue_->wait();
    return values;
  }
  dlpack::ManagedTensor dlpack(std::vector<std::int64_t>& shape) const {
    dlpack::ManagedTensor managed;
    managed.tensor.data = tensor.data;
    managed.tensor.device = {
        tensor.kind == DeviceTensor::Kind::kCuda ? dlpack::kCuda : dlpack::kCpu, tensor.device};
    managed.tensor.ndim = static_cast<std::int32_t>(shape.size());
    managed.tensor.shape = shape.data();
    return managed;
  }
  DeviceTensor tensor;

 private:
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Buffer> buffer_;
};

TEST_P(EmbedderDevice, AChunkGivesTheSameBitsAloneAndInAnyBatch) {
  const std::vector<float> all = forward(Embedder(options(4)), chunks_of({0, 1, 2, 3, 4}));
  const std::vector<float> split = forward(Embedder(options(3)), chunks_of({4, 2, 0, 1, 3}));
  const std::vector<float> alone = forward(Embedder(options(1)), chunks_of({2}));
  const std::size_t order[] = {4, 2, 0, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(rows_of(split, i), rows_of(all, order[i])) << i;
  EXPECT_EQ(alone, rows_of(all, 2));
}

TEST_P(EmbedderDevice, RepeatsAndEagerRunsGiveTheSameBits) {
  const Chunks chunks = chunks_of({0, 1});
  EmbedderOptions eager = options(2);
  eager.graph = false;
  const std::vector<float> wanted = forward(Embedder(eager), chunks);
  const Embedder embedder(options(2));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(forward(embedder, chunks), wanted) << i;
}

TEST_P(EmbedderDevice, MemoryOfTheDeviceIsUsedWhereItLies) {
  const Embedder embedder(options(2));
  const Chunks chunks = chunks_of({0, 1, 2});
  const std::vector<float> wanted = forward(embedder, chunks);
  const auto backend = backend::make_backend({.device = std::get<0>(GetParam())});
  const OnDevice features(*backend, chunks.features), masks(*backend, chunks.masks);
  const OnDevice out(*backend, chunks.embeddings());
  embedder.forward(features.tensor, masks.tensor, out.tensor);
  EXPECT_EQ(out.read(), wanted);
  if (on_gpu()) {  // the default stream; others need the device's own headers
    const OnDevice again(*backend, chunks.embeddings());
    embedder.forward(features.tensor, masks.tensor, again.tensor, nullptr);
    EXPECT_EQ(again.read(), wanted);
  }
}

TEST_P(EmbedderDevice, DlpackStaysOnTheDevice) {
  auto embedder = std::make_unique<Embedder>(options(2));
  const Chunks chunks = chunks_of({0, 1, 2});
  const std::vector<float> wanted = forward(*embedder, chunks);
  const auto backend = backend::make_backend({.device = std::get<0>(GetParam())});
  const OnDevice features(*backend, chunks.features), masks(*backend, chunks.masks);
  std::vector<std::int64_t> features_shape = {3, 998, 80}, masks_shape = {9, 589};
  dlpack::ManagedTensor* result =
      embedder->forward(features.dlpack(features_shape), masks.dlpack(masks_shape));
  embedder.reset();  // the result outlives it
  EXPECT_EQ(result->tensor.device.type, on_gpu() ? dlpack::kCuda : dlpack::kCpu);
  const auto buffer = backend->wrap(result->tensor.data, wanted.size() * sizeof(float));
  const auto queue = backend->make_queue();
  std::vector<float> got(wanted.size());
  queue->download(*buffer, 0, std::as_writable_bytes(std::span(got)));
  queue->wait();
  EXPECT_EQ(got, wanted);
  result->deleter(result);
}

TEST_P(EmbedderDevice, HostTensorsGiveAHostTensor) {
  const Embedder embedder(options(2));
  Chunks chunks = chunks_of({0});
  const auto host = backend::make_backend({.device = "cpu", .threads = 1});
  const OnDevice features(*host, chunks.features), masks(*host, chunks.masks);
  std::vector<std::int64_t> features_shape = {1, 998, 80}, masks_shape = {1, 3, 589};
  dlpack::ManagedTensor* result =
      embedder.forward(features.dlpack(features_shape), masks.dlpack(masks_shape));
  ASSERT_EQ(result->tensor.device.type, dlpack::kCpu);
  const float* data = static_cast<const float*>(result->tensor.data);
  EXPECT_EQ(std::vector<float>(data, data + kVectorValues), forward(embedder, chunks));
  result->deleter(result);
}

TEST_P(EmbedderDevice, TwoEmbeddersAndTwoThreadsAtOnce) {
  const Embedder first(options(2)), second(options(1));
  const Chunks chunks = chunks_of({0, 1});
  const std::vector<float> wanted = forward(first, chunks);
  std::vector<float> results[4];
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { results[i] = forward(i % 2 == 0 ? first : second, chunks); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, wanted);
}

// Short spans, whose mean is not that of the chunk, against the processor in exact mode.
TEST_P(EmbedderDevice, SpansEqualThoseOfTheProcessor) {
  const std::vector<float> samples = test_signal(16000 * 12);
  const std::vector<TimeSpan> spans = {{1.0, 1.25}, {2.0, 4.5}, {0.0, 11.5}};
  const std::vector<float> wanted = Embedder(synthetic_embedder()).embed(AudioView{samples}, spans);
  const std::vector<float> got = Embedder(options(2)).embed(AudioView{samples}, spans);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t row = 0; row < got.size(); row += 256) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = row; i < row + 256; ++i) {
      dot += double{got[i]} * double{wanted[i]};
      aa += double{got[i]} * double{got[i]};
      bb += double{wanted[i]} * double{wanted[i]};
    }
    EXPECT_GE(dot / std::sqrt(aa * bb),
              std::get<1>(GetParam()) == Precision::kExact ? 0.99999 : 0.9999);
  }
}

std::vector<std::tuple<std::string, Precision>> devices() {
  std::vector<std::tuple<std::string, Precision>> found;
  for (const std::string& device : backend::device_names()) {
    if (device == "reference") continue;  // hours; parity and golden tests run it
    found.emplace_back(device, Precision::kExact);
    if (device != "cpu" || !backend::cpu_bf16_supported().empty())
      found.emplace_back(device, Precision::kFast);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Devices, EmbedderDevice, testing::ValuesIn(devices()),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param);
                           std::ranges::replace(name, ':', '_');
                           return name + "_" + precision_name(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace diarist::test
