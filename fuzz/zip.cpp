// base::ZipReader: every entry by both ways of reading.

#include "base/zip.hpp"

#include "fuzz.hpp"
#include "unit/base/archives.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  const std::string text = "who spoke when, who spoke when, who spoke when";
  return {
      test::make_zip({{"a", text}, {"folder/", ""}, {"folder/b", text, true}}),
      test::make_zip({{"a", text, true, true}, {"b", text, false, true}}),
      test::make_zip({{"a", text, true, false, true}, {"b", text, false, false, true}}, true,
                     "note"),
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result([&] {
    const base::ZipReader zip(fuzz::as_bytes(data, size), "input", std::uint64_t{1} << 24);
    for (const base::ZipEntry& entry : zip.entries()) {
      fuzz::expect_error_or_result([&] { (void)zip.read(entry); });
      fuzz::expect_error_or_result([&] { (void)zip.stored(entry); });
      if (zip.find(entry.name) != &entry) std::abort();
    }
  });
  return 0;
}
