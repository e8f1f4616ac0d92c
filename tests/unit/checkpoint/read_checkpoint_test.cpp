// Which reader is picked, and real files against numbers that others computed from them.

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "model/checkpoint.hpp"
#include "support/support.hpp"
#include "unit/base/expect_error.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::model {
namespace {

using test::expect_error;
using test::raw;

class ReadCheckpoint : public testing::Test {
 protected:
  // The name says nothing about the content, on purpose.
  std::filesystem::path file(const std::string& content) {
    const auto path = folder_.path() / "weights.xyz";
    base::write_atomic(path, content);
    return path;
  }
  void expect_refused(const std::string& content, const char* why) {
    const auto path = file(content);
    expect_error(ErrorCode::kBadFile, why, [&] { read_checkpoint(path); });
    expect_error(ErrorCode::kBadFile, "weights.xyz", [&] { read_checkpoint(path); });
  }

 private:
  test::TempFolder folder_;
};

std::string npy(const std::string& descr, const std::string& data) {
  return test::make_npy(
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (2,), }}", descr), data);
}

TEST_F(ReadCheckpoint, PicksByContent) {
  const std::string safetensors = test::make_safetensors(
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", raw<float>({1, 2}));
  const std::string onnx = test::make_onnx({test::onnx_tensor("w", {2}, 1, raw<float>({1, 2}))});
  test::PickleWriter pickle;
  pickle.op("}").text("w").tensor("FloatStorage", "0", 2, 0, {2}, {1}).op("s");
  const std::string torch = test::make_torch(pickle.finish(), {{"0", raw<float>({1, 2})}});
  const std::string npz = test::make_zip(
      {{"w.npy", npy("<f8", raw<double>({1, 2}))}, {"labels.npy", npy("<i4", raw<int>({1, 2}))}});
  for (const std::string& content : {safetensors, onnx, torch, npz}) {
    const Checkpoint checkpoint = read_checkpoint(file(content));
    ASSERT_EQ(checkpoint.size(), 1u);
    const auto numbers = checkpoint.at("w").values();
    EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()), (std::vector<float>{1, 2}));
    EXPECT_EQ(checkpoint.at("w").shape(), base::Shape{2});
  }
}

TEST_F(ReadCheckpoint, SaysWhatItKnows) {
  expect_refused("", "safetensors, torch zip archives");
  expect_refused("RIFF\x24\x08", "not a known file of weights");
  expect_refused("\x80\x02\x8a\x0a", "old format");
  expect_refused("version https://git-lfs.github.com/spec/v1\n", "Git LFS");
  expect_refused(test::make_zip({{"readme.txt", "hello"}}), "without weights");
  expect_refused(test::make_safetensors("{}", ""), "no floating-point tensors");
  expect_refused(test::make_zip({{"w.npy", npy("<i4", raw<int>({1, 2}))}}),
                 "no floating-point tensors");
  expect_error(ErrorCode::kNotFound, "nowhere", [] { read_checkpoint("/nowhere/at/all"); });
}

std::string sha256(const base::TensorF& tensor) {
  return base::sha256_hex(std::as_bytes(tensor.values()));
}

// Expected hashes: hashlib over numpy.load(...).astype('<f4').tobytes().
TEST(RealWeights, FilesWrittenByNumPy) {
  const auto plda = test::shared_folder() / "data" / "plda" / "plda.npz";
  const auto small = test::shared_folder() / "data" / "standin" / "standin_small.npz";
  DIARIST_NEED(plda);
  DIARIST_NEED(small);
  const Checkpoint tables = read_checkpoint(plda);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables.at("tr").shape(), (base::Shape{128, 128}));
  EXPECT_EQ(sha256(tables.at("mu")),
            "e580330f4857fb560489cfade955aaf21cd78755ba421a22c1a25c1b5035586d");
  EXPECT_EQ(sha256(tables.at("tr")),
            "e3394b0ab3ef8bdd7bc62b81b69969c15e330ef723083dceb0bf77a766ff06ab");
  const Checkpoint network = read_checkpoint(small);
  ASSERT_EQ(network.size(), 146u);
  base::Sha256 sum;
  for (const auto& [name, tensor] : network) {
    sum.update(std::as_bytes(std::span(name)));
    sum.update(std::as_bytes(tensor.values()));
  }
  EXPECT_EQ(sum.finish(), "0d92f94778b447ad6a0b144e54d03303b93c465a221468afc5d6ad327d738394");
}

// The segmentation network's matrices are stored unchanged in the bundle; the hashes were taken
// with numpy from the torch archive they came from, so reading, importing and writing kept every
// bit.
TEST(RealWeights, SegmentationOfTheOpenBundle) {
  const auto file = test::models_folder() / "open" / "segmentation.safetensors";
  DIARIST_NEED(file);
  const Checkpoint network = read_checkpoint(file);
  EXPECT_EQ(network.at("classifier.weight").shape(), (base::Shape{7, 128}));
  EXPECT_EQ(sha256(network.at("classifier.weight")),
            "bf603deb7488fcc8ccdf754afcaa76195b739129ba16359dcd8d61eab3061e92");
  EXPECT_EQ(sha256(network.at("lstm.weight_ih_l0")),
            "00668e1034a502864d9862bc95a03603e1dd8dcd7ba689e101d053f06a446fbe");
}

}  // namespace
}  // namespace diarist::model
