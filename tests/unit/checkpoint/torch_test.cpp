#include <limits>

#include "model/checkpoint.hpp"
#include "unit/base/expect_error.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::model {
namespace {

using test::expect_error;
using test::make_torch;
using test::PickleWriter;
using test::raw;
using test::view;

std::vector<float> values(const base::TensorF& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

Checkpoint parse(const std::string& file) { return parse_torch(view(file), "my.bin"); }

// A state dict with the one tensor "w" that `pickle` pushes.
std::string dict_of(const std::string& value_opcodes) {
  return PickleWriter().op("}").text("w").op(value_opcodes).op("s").finish();
}

std::string opcodes(const PickleWriter& writer) {
  const std::string whole = writer.finish();
  return whole.substr(2, whole.size() - 3);
}

std::string tensor(std::string_view type, std::int32_t offset,
                   const std::vector<std::int32_t>& shape,
                   const std::vector<std::int32_t>& stride) {
  return opcodes(PickleWriter().tensor(type, "0", 6, offset, shape, stride));
}

const std::string kSix = raw<float>({1, 2, 3, 4, 5, 6});

TEST(Torch, SmallStateDict) {
  for (const bool deflate : {false, true}) {
    for (const char* folder : {"archive", "senko_vad", "two words/deeper"}) {
      const Checkpoint checkpoint =
          parse(make_torch(test::small_state_dict(), test::small_storages(), folder, deflate));
      ASSERT_EQ(checkpoint.size(), 2u);  // the integers are left out
      EXPECT_EQ(checkpoint.at("weight").shape(), (base::Shape{2, 3}));
      EXPECT_EQ(values(checkpoint.at("weight")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
      EXPECT_EQ(values(checkpoint.at("half")), (std::vector<float>{1, -2}));
    }
  }
}

TEST(Torch, EveryStorageType) {
  const auto one = [](const char* type, const std::string& data) {
    const std::string pickle =
        dict_of(opcodes(PickleWriter().tensor(type, "94233571949840", 1, 0, {1}, {1})));
    return values(parse(make_torch(pickle, {{"94233571949840", data}})).at("w")).at(0);
  };
  EXPECT_EQ(one("FloatStorage", raw<float>({1.5f})), 1.5f);
  EXPECT_EQ(one("DoubleStorage", raw<double>({0.1})), 0.1f);
  EXPECT_EQ(one("HalfStorage", raw<std::uint16_t>({1})), 0x1p-24f);
  EXPECT_EQ(one("BFloat16Storage", raw<std::uint16_t>({0xc040})), -3.0f);
  for (const char* type :
       {"LongStorage", "IntStorage", "ShortStorage", "CharStorage", "ByteStorage", "BoolStorage"}) {
    expect_error(ErrorCode::kBadFile, "no tensors", [&] { one(type, std::string(8, '\1')); });
  }
  expect_error(ErrorCode::kBadFile, "ComplexFloatStorage",
               [&] { one("ComplexFloatStorage", std::string(8, '\1')); });
}

TEST(Torch, StridesAndOffsets) {
  const auto view_of = [](std::int32_t offset, const std::vector<std::int32_t>& shape,
                          const std::vector<std::int32_t>& stride) {
    return values(
        parse(make_torch(dict_of(tensor("FloatStorage", offset, shape, stride)), {{"0", kSix}}))
            .at("w"));
  };
  using V = std::vector<float>;
  EXPECT_EQ(view_of(0, {3, 2}, {1, 3}), (V{1, 4, 2, 5, 3, 6}));  // transposed
  EXPECT_EQ(view_of(1, {2, 2}, {3, 1}), (V{2, 3, 5, 6}));        // columns 1 and 2
  EXPECT_EQ(view_of(4, {2}, {1}), (V{5, 6}));
  EXPECT_EQ(view_of(1, {3}, {2}), (V{2, 4, 6}));
  EXPECT_EQ(view_of(5, {}, {}), (V{6}));
  EXPECT_EQ(view_of(0, {2, 1, 3}, {3, 77, 1}), (V{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(view_of(0, {1, 2}, {2147483647, 5}), (V{1, 6}));
  EXPECT_EQ(view_of(0, {2, 2}, {0, 1}), (V{1, 2, 1, 2}));  // expanded, but not beyond its storage
  EXPECT_EQ(view_of(6, {0, 3}, {3, 1}), V{});
}

TEST(Torch, ReachingOutsideIsRefused) {
  const auto refused = [](std::int32_t offset, const std::vector<std::int32_t>& shape,
                          const std::vector<std::int32_t>& stride, const char* why) {
    const std::string file =
        make_torch(dict_of(tensor("FloatStorage", offset, shape, stride)), {{"0", kSix}});
    expect_error(ErrorCode::kBadFile, why, [&] { parse(file); });
  };
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  refused(1, {2, 3}, {3, 1}, "reaches beyond");
  refused(6, {}, {}, "reaches beyond");
  refused(-1, {2}, {1}, "reaches beyond");
  refused(0, {2}, {6}, "reaches beyond");
  refused(0, {2}, {-1}, "reaches beyond");
  refused(0, {3}, {most}, "reaches beyond");
  refused(most, {2}, {most}, "reaches beyond");
  refused(0, {7}, {0}, "reaches beyond");  // few bytes, many numbers
  refused(0, {most, most}, {0, 0}, "impossible shape");
  refused(0, {-1}, {1}, "impossible shape");
  refused(0, {2, 3}, {1}, "strides");
  refused(0, std::vector<std::int32_t>(65, 1), std::vector<std::int32_t>(65, 1), "dimensions");
}

// Many names for one storage multiply what a small file asks for.
TEST(Torch, SharedStoragesAreLimited) {
  const auto file = [](int names) {
    PickleWriter pickle;
    pickle.tensor("FloatStorage", "0", 3000, 0, {3000}, {1})
        .op("q\1"
            "0}");
    for (int i = 0; i < names; ++i) pickle.text(std::to_string(i)).op("h\1s");
    return make_torch(pickle.finish(), {{"0", std::string(12000, '\1')}});
  };
  EXPECT_EQ(parse(file(3)).size(), 3u);
  expect_error(ErrorCode::kBadFile, "reaches beyond", [&] { parse(file(12)); });
}

TEST(Torch, LightningCheckpoint) {
  PickleWriter pickle;
  pickle.op("}(").text("epoch").number(3);
  pickle.text("state_dict").global("collections", "OrderedDict").op(")R(");
  pickle.text("model.w").global("torch._utils", "_rebuild_parameter").op("(");
  pickle.tensor("FloatStorage", "0", 6, 0, {6}, {1}).op("\x88)tR");
  pickle.text("model.b").global("torch._utils", "_rebuild_parameter_with_state").op("(");
  pickle.tensor("FloatStorage", "0", 6, 0, {2}, {1}).op("\x88)}tRu}").text("_metadata");
  pickle.op("}sb");  // attributes of the dictionary
  pickle.text("hyper_parameters").global("pytorch_lightning.utilities.parsing", "AttributeDict");
  pickle.op(")\x81}").text("task").global("pyannote.audio.core.task", "Problem");
  pickle.number(1).op("\x85Rsb");
  pickle.text("loops").op("]").text("optimizer_states").op("](}eu");
  const Checkpoint checkpoint = parse(make_torch(pickle.finish(), {{"0", kSix}}));
  ASSERT_EQ(checkpoint.size(), 2u);
  EXPECT_EQ(values(checkpoint.at("model.w")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(checkpoint.at("model.b")), (std::vector<float>{1, 2}));
}

TEST(Torch, OtherRebuilders) {
  const auto one = [](const std::string& value) {
    return values(parse(make_torch(dict_of(value), {{"0", kSix}})).at("w"));
  };
  PickleWriter first;
  first.global("torch._utils", "_rebuild_tensor").op("(").storage("FloatStorage", "0", 6);
  EXPECT_EQ(one(opcodes(first.number(2).numbers({2}).numbers({1}).op("tR"))),
            (std::vector<float>{3, 4}));
  PickleWriter third;
  third.global("torch._utils", "_rebuild_tensor_v3").op("((").text("storage");
  third.global("torch.storage", "UntypedStorage").text("0").text("cpu").number(24).op("tQ");
  third.number(0).numbers({2}).numbers({1}).op("\x89)").global("torch", "float32").op("tR");
  EXPECT_EQ(one(opcodes(third)), (std::vector<float>{1, 2}));
  PickleWriter subclass;
  subclass.global("torch._tensor", "_rebuild_from_type_v2").op("(");
  subclass.global("torch._utils", "_rebuild_tensor_v2").global("my", "Tensor").op("(");
  subclass.storage("FloatStorage", "0", 6).number(4).numbers({2}).numbers({1}).op("\x89)t}tR");
  EXPECT_EQ(one(opcodes(subclass)), (std::vector<float>{5, 6}));
}

TEST(Torch, Refusals) {
  const auto refused = [](const std::string& file, const char* why) {
    expect_error(ErrorCode::kBadFile, why, [&] { parse(file); });
  };
  const std::string good = test::small_state_dict();
  refused("\x80\x02", "not a zip archive");
  refused(test::make_zip({{"a/b.txt", "x"}}), "no data.pkl");
  refused(test::make_zip({{"a/data.pkl", good}, {"b/data.pkl", good}}), "several data.pkl");
  refused(test::make_zip({{"a/data.pkl", good}, {"a/constants.pkl", "x"}}), "TorchScript");
  refused(test::make_zip({{"a/data.pkl", good}, {"a/byteorder", "big"}}), "big-endian");
  refused(make_torch(good, {}), "the data of tensor");
  refused(make_torch("\x80\x02N.", {}), "no dictionary");
  refused(make_torch("\x80\x02}.", {}), "no tensors");
  refused(make_torch("\x80\x02}VW\nNs.", {}), "no tensors");
  refused(make_torch("\x80\x02", {}), "cut short");
  refused(make_torch(good, {{"0", kSix.substr(1)}, {"1", "abcd"}}), "reaches beyond");
  EXPECT_EQ(parse(test::make_zip({{"data.pkl", good},
                                  {"byteorder", "little"},
                                  {"data/0", kSix},
                                  {"data/1", "abcd"},
                                  {"other/data.pkl", "x"}}))
                .size(),
            2u);
}

TEST(Torch, EveryTruncationAndDamageIsRefused) {
  const std::string pickle = test::small_state_dict();
  const auto storages = test::small_storages();
  const std::string file = make_torch(pickle, storages);
  EXPECT_EQ(test::count_valid_truncations(file, "cut.bin",
                                          [](auto bytes) { parse_torch(bytes, "cut.bin"); }),
            0);
  // Truncated and damaged programs in an intact archive: refused, or some other valid dictionary.
  EXPECT_EQ(test::count_valid_truncations(
                pickle, "cut.bin",
                [&](auto bytes) {
                  const std::string part(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                  const std::string cut = make_torch(part, storages);
                  parse_torch(view(cut), "cut.bin");
                }),
            0);
  for (std::size_t at = 0; at < pickle.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = pickle;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        parse(make_torch(damaged, storages));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kBadFile) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace diarist::model
