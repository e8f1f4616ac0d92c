#include "model/checkpoint.hpp"
#include "unit/base/expect_error.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::model {
namespace {

using test::expect_error;
using test::field;
using test::make_onnx;
using test::onnx_tensor;
using test::raw;
using test::view;

std::vector<float> values(const base::TensorF& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

Checkpoint parse(const std::string& file) { return parse_onnx(view(file), "my.onnx"); }

// TensorProto without data: dims, type, name "w".
std::string head(const std::vector<std::uint64_t>& dims, std::uint64_t type) {
  std::string out;
  for (const std::uint64_t dim : dims) out += field(1, dim);
  return out + field(2, type) + field(8, std::string("w"));
}

std::string text(const char* value) { return value; }

TEST(Onnx, RawData) {
  const Checkpoint checkpoint = parse(make_onnx({
      onnx_tensor("f32", {2, 1}, 1, raw<float>({1.5f, -2})),
      onnx_tensor("f64", {}, 11, raw<double>({0.1})),
      onnx_tensor("f16", {1}, 10, raw<std::uint16_t>({0x3c00})),
      onnx_tensor("bf16", {1}, 16, raw<std::uint16_t>({0xc040})),
      onnx_tensor("i64", {1}, 7, raw<std::int64_t>({1})),
      onnx_tensor("empty", {0}, 1, ""),
  }));
  ASSERT_EQ(checkpoint.size(), 5u);
  EXPECT_EQ(checkpoint.at("f32").shape(), (base::Shape{2, 1}));
  EXPECT_EQ(values(checkpoint.at("f32")), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(values(checkpoint.at("f64")), (std::vector<float>{0.1f}));
  EXPECT_EQ(values(checkpoint.at("f16")), (std::vector<float>{1}));
  EXPECT_EQ(values(checkpoint.at("bf16")), (std::vector<float>{-3}));
  EXPECT_TRUE(checkpoint.at("empty").empty());
}

TEST(Onnx, TypedData) {
  const auto one = [](const std::string& tensor) {
    return values(parse(make_onnx({tensor})).at("w"));
  };
  // Packed, and one by one (field 4, wire type 5: tag 0x25; field 10, wire type 1: tag 0x51).
  EXPECT_EQ(one(head({2}, 1) + field(4, raw<float>({1, 2}))), (std::vector<float>{1, 2}));
  EXPECT_EQ(one(head({2}, 1) + "\x25" + raw<float>({1}) + "\x25" + raw<float>({2})),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(one(head({1}, 11) + field(10, raw<double>({0.5}))), (std::vector<float>{0.5f}));
  EXPECT_EQ(one(head({1}, 11) + "\x51" + raw<double>({0.5})), (std::vector<float>{0.5f}));
  // Halves lie in int32_data (field 5).
  EXPECT_EQ(one(head({2}, 10) + field(5, test::varint(0x3c00) + test::varint(0xc000))),
            (std::vector<float>{1, -2}));
  EXPECT_EQ(one(head({2}, 10) + field(5, 0x3c00) + field(5, 0xc000)), (std::vector<float>{1, -2}));
  EXPECT_EQ(one(head({1}, 16) + field(5, 0xc040)), (std::vector<float>{-3}));
  // Packed dimensions.
  const std::string packed =
      field(1, text("\2\1")) + field(2, 1) + field(8, text("w")) + field(9, raw<float>({1, 2}));
  EXPECT_EQ(parse(make_onnx({packed})).at("w").shape(), (base::Shape{2, 1}));
}

TEST(Onnx, ConstantNodes) {
  const std::string tensor = onnx_tensor("ignored", {2}, 1, raw<float>({3, 4}));
  const std::string attribute = field(1, text("value")) + field(5, tensor);
  const std::string constant =
      field(2, text("/Constant_output_0")) + field(4, text("Constant")) + field(5, attribute);
  const std::string other = field(1, text("x")) + field(2, text("y")) + field(4, text("Relu"));
  const Checkpoint checkpoint = parse(make_onnx({}, {other, constant}));
  ASSERT_EQ(checkpoint.size(), 1u);
  EXPECT_EQ(values(checkpoint.at("/Constant_output_0")), (std::vector<float>{3, 4}));
}

TEST(Onnx, Refusals) {
  const auto refused = [](const std::string& file, const char* why) {
    expect_error(ErrorCode::kBadFile, why, [&] { parse(file); });
  };
  refused("", "no graph");
  refused("hello, this is no model", "my.onnx");
  refused(field(1, 8), "no graph");
  refused(field(7, 8), "not an ONNX file");
  const std::string eight = raw<float>({1, 2});
  refused(make_onnx({onnx_tensor("w", {3}, 1, eight)}), "has 8 bytes where its shape needs 12");
  refused(make_onnx({onnx_tensor("w", {~std::uint64_t{0}}, 1, eight)}), "impossible shape");
  refused(make_onnx({onnx_tensor("w", {1u << 31, 1u << 31, 1u << 31}, 1, eight)}),
          "impossible shape");
  refused(make_onnx({onnx_tensor("w", std::vector<std::uint64_t>(65, 1), 1, eight)}), "dimensions");
  refused(make_onnx({onnx_tensor("w", {2}, 17, eight)}), "data type 17");
  refused(make_onnx({onnx_tensor("w", {2}, 1, eight), onnx_tensor("w", {2}, 1, eight)}), "twice");
  refused(make_onnx({head({2}, 1) + field(14, 1)}), "separate file");
  refused(make_onnx({head({2}, 1) + field(13, text("x"))}), "separate file");
  refused(make_onnx({head({2}, 1) + field(3, text(""))}), "segments");
  refused(make_onnx({head({2}, 1) + field(4, text("abc"))}), "damaged");
  refused(make_onnx({head({2}, 1) + field(8, 5)}), "damaged");
  refused("\x0b", "damaged");                                        // a group
  refused(std::string("\0\1", 2), "damaged");                        // field number 0
  refused(std::string(1, '\x08').append(11, '\xff'), "damaged");     // a number without end
  refused("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "cut short");  // longer than the file
}

// Protobuf has no end mark: some truncations are valid files with fewer fields, none may crash.
TEST(Onnx, EveryTruncation) {
  const std::string file = make_onnx({onnx_tensor("w", {2}, 1, raw<float>({1, 2}))});
  EXPECT_EQ(test::count_valid_truncations(file, "cut.onnx",
                                          [](auto bytes) { parse_onnx(bytes, "cut.onnx"); }),
            0);
  const std::string tensor = onnx_tensor("w", {2}, 1, raw<float>({1, 2}));
  for (std::size_t length = 0; length < tensor.size(); ++length) {
    expect_error(ErrorCode::kBadFile, "my.onnx",
                 [&] { parse(make_onnx({tensor.substr(0, length)})); });
  }
}

}  // namespace
}  // namespace diarist::model
