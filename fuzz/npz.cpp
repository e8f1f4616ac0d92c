// base::parse_npz.

#include "base/npy.hpp"
#include "fuzz.hpp"
#include "unit/base/archives.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  const std::string array = test::make_npy(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", std::string(24, '\1'));
  return {
      test::make_zip({{"a.npy", array}, {"b.npy", array, true}, {"note.txt", "hello"}}),
      test::make_zip({{"x.npy", array, true, true}, {"y.npy", array, false, false, true}}, true),
      test::make_zip({}),
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result([&] { (void)base::parse_npz(fuzz::as_bytes(data, size), "input"); });
  return 0;
}
