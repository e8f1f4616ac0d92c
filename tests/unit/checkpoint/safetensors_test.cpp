#include "model/checkpoint.hpp"
#include "unit/base/expect_error.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::model {
namespace {

using test::expect_error;
using test::make_safetensors;
using test::raw;
using test::view;

std::vector<float> values(const base::TensorF& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

std::string one(const std::string& dtype, const std::string& shape, int end) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[0,)" +
         std::to_string(end) + "]}}";
}

TEST(Safetensors, EveryType) {
  const std::string header = R"({"__metadata__":{"format":"pt"},
    "f32":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},
    "f64":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},
    "f16":{"dtype":"F16","shape":[2],"data_offsets":[16,20]},
    "bf16":{"dtype":"BF16","shape":[1],"data_offsets":[20,22]},
    "count":{"dtype":"I64","shape":[],"data_offsets":[22,30]},
    "flag":{"dtype":"BOOL","shape":[1],"data_offsets":[30,31]},
    "none":{"dtype":"F32","shape":[0,3],"data_offsets":[31,31]}})";
  const std::string data = raw<double>({0.1}) + raw<float>({1.5f, -2}) +
                           raw<std::uint16_t>({0x3c00, 0xfc00, 0xc040}) + raw<std::int64_t>({7}) +
                           "\1";
  const Checkpoint checkpoint = parse_safetensors(view(make_safetensors(header, data)), "w");
  ASSERT_EQ(checkpoint.size(), 5u);
  EXPECT_EQ(values(checkpoint.at("f32")), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(checkpoint.at("f32").shape(), (base::Shape{2, 1}));
  EXPECT_EQ(values(checkpoint.at("f64")), (std::vector<float>{0.1f}));
  EXPECT_EQ(values(checkpoint.at("f16")),
            (std::vector<float>{1, -std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(values(checkpoint.at("bf16")), (std::vector<float>{-3}));
  EXPECT_TRUE(checkpoint.at("none").empty());
  EXPECT_EQ(checkpoint.at("none").shape(), (base::Shape{0, 3}));
}

TEST(Safetensors, Refusals) {
  const auto refused = [](const std::string& header, const std::string& data, const char* why) {
    const std::string file = make_safetensors(header, data);
    expect_error(ErrorCode::kBadFile, why,
                 [&] { parse_safetensors(view(file), "my.safetensors"); });
  };
  const std::string eight(8, 'x');
  refused(one("F32", "[2]", 8), eight.substr(1), "cut short");
  refused(one("F32", "[2]", 8), eight + "x", "1 bytes belong to no tensor");
  refused(one("F32", "[3]", 8), eight, "don't match its shape");
  refused(one("F8_E4M3", "[8]", 8), eight, "has type F8_E4M3");
  refused(one("F32", "[-2]", 8), eight, "no count");
  refused(one("F32", "[2.5]", 8), eight, "no count");
  refused(one("F32", "2", 8), eight, "no valid shape");
  refused(one("F32", "[4294967296,4294967296,4]", 8), eight, "impossible shape");
  refused(one("F32", "[4294967296,4294967296,0]", 0), "", "impossible shape");
  refused(one("F32", "[18446744073709551615]", 8), eight, "no count");
  refused(R"({"w":{"dtype":"F32","shape":[2]}})", eight, "no valid data_offsets");
  refused(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", eight, "don't match");
  refused(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", eight, "data_offsets");
  refused(R"({"w":[]})", eight, "no valid dtype");
  refused(R"([])", "", "not valid JSON");
  refused(R"({"w":)", "", "not valid JSON");
  refused("", "", "not valid JSON");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
          eight, "appears twice");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
          eight, "tensor b at 2..6 of 8");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", eight, "tensor a at 4..8");
  refused(R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}", "", "deeply");
  std::string endless = make_safetensors("{}", "");
  endless.replace(0, 8, std::string(8, '\xff'));
  expect_error(ErrorCode::kBadFile, "header too long",
               [&] { parse_safetensors(view(endless), "x"); });
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string file = make_safetensors(one("F32", "[2]", 8), std::string(8, 'x'));
  EXPECT_EQ(test::count_valid_truncations(file, "cut.st",
                                          [](auto bytes) { parse_safetensors(bytes, "cut.st"); }),
            0);
}

// The layout the format describes: length, sorted JSON padded to 8 bytes, data in the same order.
TEST(Safetensors, WritesSortedBytes) {
  Checkpoint checkpoint;
  checkpoint.emplace("b", base::TensorF({1}, {2.5f}));
  checkpoint.emplace("a.w", base::TensorF({1, 2}, {1, -1}));
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a.w":{"data_offsets":[0,8],"dtype":"F32","shape":[1,2]},)"
      R"("b":{"data_offsets":[8,12],"dtype":"F32","shape":[1]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string wanted = make_safetensors(padded, raw<float>({1, -1, 2.5f}));
  const auto bytes = to_safetensors(checkpoint, {{"k", "v"}});
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), wanted);
  EXPECT_EQ(bytes, to_safetensors(checkpoint, {{"k", "v"}}));
  const Checkpoint again = parse_safetensors(bytes, "again");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(values(again.at("a.w")), (std::vector<float>{1, -1}));
  EXPECT_EQ(again.at("b").shape(), base::Shape{1});
}

TEST(Safetensors, RefusesToWriteWhatCantBeRead) {
  Checkpoint checkpoint;
  checkpoint.emplace("\xff", base::TensorF({1}, {1}));
  expect_error(ErrorCode::kInvalidArgument, "UTF-8", [&] { to_safetensors(checkpoint); });
  Checkpoint reserved;
  reserved.emplace("__metadata__", base::TensorF({1}, {1}));
  expect_error(ErrorCode::kInvalidArgument, "__metadata__", [&] { to_safetensors(reserved); });
}

}  // namespace
}  // namespace diarist::model
