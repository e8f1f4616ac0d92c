// model::parse_onnx.

#include "fuzz.hpp"
#include "model/checkpoint.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using namespace test;
  const std::string packed = field(1, std::string("\2\1")) + field(2, 1) +
                             field(8, std::string("p")) + field(4, raw<float>({1, 2}));
  const std::string halves = field(1, 2) + field(2, 10) + field(8, std::string("h")) +
                             field(5, std::string("\x80\x78\x80\x80\x03"));
  const std::string attribute =
      field(1, std::string("value")) + field(5, onnx_tensor("", {}, 11, raw<double>({0.5})));
  const std::string node =
      field(2, std::string("c")) + field(4, std::string("Constant")) + field(5, attribute);
  return {make_onnx({onnx_tensor("w", {2, 3}, 1, std::string(24, '\1')),
                     onnx_tensor("i", {1}, 7, std::string(8, '\1'))}),
          make_onnx({packed, halves}, {node})};
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result(
      [&] { (void)model::parse_onnx(fuzz::as_bytes(data, size), "input"); });
  return 0;
}
