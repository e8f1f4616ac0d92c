// DLPack in and out: what is taken, what is refused, who frees what.

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "../base/expect_error.hpp"
#include "chunks.hpp"
#include "pipeline/dlpack_tensor.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

/// A tensor over numbers of the test.
struct Borrowed {
  Borrowed(std::vector<float>& values, std::vector<std::int64_t> lengths)
      : shape(std::move(lengths)) {
    managed.tensor.data = values.data();
    managed.tensor.ndim = static_cast<std::int32_t>(shape.size());
    managed.tensor.shape = shape.data();
    managed.deleter = [](dlpack::ManagedTensor*) { FAIL() << "a borrowed tensor was freed"; };
  }
  std::vector<std::int64_t> shape, strides;
  dlpack::ManagedTensor managed;
};

const Embedder& embedder() {
  static const Embedder made(synthetic_embedder());
  return made;
}

TEST(DlpackForward, GivesTheBitsOfTheHostCall) {
  Chunks chunks = chunks_of({0, 1});
  const std::vector<float> wanted = forward(embedder(), chunks);
  Borrowed features(chunks.features, {2, 998, 80});
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{6, 589}, {2, 3, 589}}) {
    Borrowed masks(chunks.masks, shape);
    dlpack::ManagedTensor* result = embedder().forward(features.managed, masks.managed);
    ASSERT_NE(result, nullptr);
    const dlpack::Tensor& tensor = result->tensor;
    EXPECT_EQ(tensor.device.type, dlpack::kCpu);
    ASSERT_EQ(tensor.ndim, 2);
    EXPECT_EQ(tensor.shape[0], 6);
    EXPECT_EQ(tensor.shape[1], 256);
    EXPECT_EQ(tensor.strides, nullptr);
    EXPECT_EQ(tensor.byte_offset, 0U);
    EXPECT_EQ(tensor.dtype.code, dlpack::kFloat);
    EXPECT_EQ(tensor.dtype.bits, 32);
    const float* data = static_cast<const float*>(tensor.data);
    EXPECT_EQ(std::vector<float>(data, data + wanted.size()), wanted);
    result->deleter(result);
  }
}

TEST(DlpackForward, TheResultOutlivesTheEmbedder) {
  Chunks chunks = chunks_of({0});
  Borrowed features(chunks.features, {1, 998, 80});
  Borrowed masks(chunks.masks, {3, 589});
  auto own = std::make_unique<Embedder>(synthetic_embedder());
  const std::vector<float> wanted = forward(*own, chunks);
  dlpack::ManagedTensor* result = own->forward(features.managed, masks.managed);
  own.reset();
  const float* data = static_cast<const float*>(result->tensor.data);
  EXPECT_EQ(std::vector<float>(data, data + wanted.size()), wanted);
  result->deleter(result);
}

TEST(DlpackForward, OffsetsAndStridesOfCOrderAreTaken) {
  Chunks chunks = chunks_of({0});
  const std::vector<float> wanted = forward(embedder(), chunks);
  chunks.features.insert(chunks.features.begin(), 3, 99.0F);
  Borrowed features(chunks.features, {1, 998, 80});
  features.managed.tensor.byte_offset = 12;
  // The stride of an axis of length 1 says nothing.
  features.strides = {7, 80, 1};
  features.managed.tensor.strides = features.strides.data();
  Borrowed masks(chunks.masks, {3, 589});
  dlpack::ManagedTensor* result = embedder().forward(features.managed, masks.managed);
  const float* data = static_cast<const float*>(result->tensor.data);
  EXPECT_EQ(std::vector<float>(data, data + wanted.size()), wanted);
  result->deleter(result);
}

TEST(DlpackForward, EverythingElseIsATypedError) {
  Chunks chunks = chunks_of({0});
  const auto refuse = [&](ErrorCode code, const std::string& part, const auto& change) {
    Borrowed features(chunks.features, {1, 998, 80});
    Borrowed masks(chunks.masks, {3, 589});
    change(features, masks);
    expect_error(code, part, [&] { embedder().forward(features.managed, masks.managed); });
  };
  const auto shaped = [](Borrowed& tensor, std::vector<std::int64_t> shape) {
    tensor.shape = std::move(shape);
    tensor.managed.tensor.ndim = static_cast<std::int32_t>(tensor.shape.size());
    tensor.managed.tensor.shape = tensor.shape.data();
  };
  refuse(ErrorCode::kUnsupported, "features: DLPack type",
         [](auto& f, auto&) { f.managed.tensor.dtype.bits = 16; });
  refuse(ErrorCode::kUnsupported, "masks: DLPack type",
         [](auto&, auto& m) { m.managed.tensor.dtype.code = 0; });
  refuse(ErrorCode::kUnsupported, "lanes",
         [](auto& f, auto&) { f.managed.tensor.dtype.lanes = 4; });
  refuse(ErrorCode::kUnsupported, "device type 10",
         [](auto& f, auto&) { f.managed.tensor.device.type = 10; });
  refuse(ErrorCode::kInvalidArgument, "masks: lies on GPU 1", [](auto&, auto& m) {
    m.managed.tensor.device = {dlpack::kCuda, 1};
  });
  refuse(ErrorCode::kInvalidArgument, "features: lies on GPU 0", [](auto& f, auto& m) {
    f.managed.tensor.device = {dlpack::kCuda, 0};
    m.managed.tensor.device = {dlpack::kCuda, 0};
  });
  refuse(ErrorCode::kUnsupported, "features: strides [79840, 1, 998]", [](auto& f, auto&) {
    f.strides = {79840, 1, 998};
    f.managed.tensor.strides = f.strides.data();
  });
  refuse(ErrorCode::kUnsupported, "byte offset 2",
         [](auto& f, auto&) { f.managed.tensor.byte_offset = 2; });
  refuse(ErrorCode::kInvalidArgument, "without data",
         [](auto& f, auto&) { f.managed.tensor.data = nullptr; });
  refuse(ErrorCode::kInvalidArgument, "without a shape",
         [](auto& f, auto&) { f.managed.tensor.shape = nullptr; });
  refuse(ErrorCode::kInvalidArgument, "shape [998, 80] given, [-1, 998, 80] expected",
         [&](auto& f, auto&) {
           shaped(f, {998, 80});
         });
  refuse(ErrorCode::kInvalidArgument, "[-1, 589] or [-1, 3, 589]", [&](auto&, auto& m) {
    shaped(m, {3, 588});
  });
  refuse(ErrorCode::kInvalidArgument, "larger than any memory", [&](auto& f, auto&) {
    shaped(f, {std::int64_t{1} << 60, 998, 80});
  });
  refuse(ErrorCode::kInvalidArgument, "shape", [&](auto& f, auto&) { shaped(f, {-1, 998, 80}); });
  refuse(ErrorCode::kInvalidArgument, "masks: 1178 values given, 1767 expected",
         [&](auto&, auto& m) {
           shaped(m, {2, 589});
         });
}

TEST(DlpackTensor, TheDeleterFreesTheOwnerOnce) {
  auto owner = std::make_shared<std::vector<float>>(6, 1.0F);
  std::weak_ptr<std::vector<float>> watch = owner;
  float* data = owner->data();
  dlpack::ManagedTensor* tensor =
      pipeline::hand_over(data, {dlpack::kCpu, 0}, {2, 3}, std::move(owner));
  EXPECT_FALSE(watch.expired());
  const DeviceTensor back = pipeline::borrow(*tensor, "round trip", {{2, -1}});
  EXPECT_EQ(back.data, data);
  EXPECT_EQ(back.elements, 6);
  EXPECT_EQ(back.kind, DeviceTensor::Kind::kHost);
  tensor->deleter(tensor);
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace diarist::test
