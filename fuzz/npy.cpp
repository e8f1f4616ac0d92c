// base::parse_npy and the conversions of its result.

#include "base/npy.hpp"

#include "fuzz.hpp"
#include "unit/base/archives.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using test::make_npy;
  return {
      make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
               std::string(24, '\1')),
      make_npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1, 3), }\n",
               std::string(48, '\2'), 2),
      make_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", "\1", 3),
      make_npy("{'shape': (0, 5), 'descr': \"<i8\", 'fortran_order': False}", ""),
      make_npy("{'descr': '<f2', 'fortran_order': False, 'shape': (3L,), }\n", "abcdef"),
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result([&] {
    const base::NpyArray array = base::parse_npy(fuzz::as_bytes(data, size), "input");
    fuzz::expect_error_or_result([&] { (void)array.as<float>("input"); });
    fuzz::expect_error_or_result([&] { (void)array.as<double>("input"); });
    fuzz::expect_error_or_result([&] { (void)array.as<std::int32_t>("input"); });
    fuzz::expect_error_or_result([&] { (void)array.as<std::uint8_t>("input"); });
  });
  return 0;
}
