// model::parse_torch: the input as an archive, and as the data.pkl of an archive. The second way
// gets past the archive's checksums, so that the pickle machine sees damaged programs.

#include "fuzz.hpp"
#include "model/checkpoint.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using test::PickleWriter;
  const std::string plain = test::small_state_dict();
  PickleWriter ordered;  // {"state_dict": OrderedDict, "hparams": object, "epoch": 3}
  ordered.op("}(").text("state_dict").global("collections", "OrderedDict").op(")R(");
  ordered.text("w").global("torch._utils", "_rebuild_parameter").op("(");
  ordered.tensor("FloatStorage", "0", 6, 1, {2, 2}, {1, 2}).op("\x88)tRu");
  ordered.text("hparams").global("lightning", "AttributeDict").op(")\x81}(").text("lr");
  ordered.op(std::string_view("G\x3f\xf0\0\0\0\0\0\0", 9)).op("ub");
  ordered.text("epoch").op(std::string_view("\x8a\x01\x03", 3)).op("u");
  const std::string memo("\x80\x04\x95\0\0\0\0\0\0\0\0}\x94(\x8c\x01w\x94\x8c\x0btorch._utils\x94",
                         33);
  const std::string protocol4 = memo + "\x8c\x12_rebuild_tensor_v2\x94\x93\x94(" +
                                PickleWriter().storage("DoubleStorage", "2", 1).finish().substr(2);
  return {test::make_torch(plain, test::small_storages()),
          test::make_torch(ordered.finish(), test::small_storages(), "other", true),
          plain,
          ordered.finish(),
          protocol4,
          "(I01\nF1.5\nS'x'\np0\n(lp1\ng0\na(dp2\n."};
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result(
      [&] { (void)model::parse_torch(fuzz::as_bytes(data, size), "input"); });
  const std::string pickle(reinterpret_cast<const char*>(data), size);
  const std::string archive = test::make_torch(pickle, test::small_storages());
  fuzz::expect_error_or_result(
      [&] { (void)model::parse_torch(fuzz::as_bytes(archive), "archive"); });
  return 0;
}
