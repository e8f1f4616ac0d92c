// parse_path_list: paths lie below the folder or are absolute, and none is empty.

#include <stdexcept>

#include "diarist/turn_inputs.hpp"
#include "fuzz.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  return {
      "# reference\nturns/a b.rttm\n/tmp/c.rttm\n\n",
      "\xEF\xBB\xBF  one.rttm \r\n\t# two\r\n\xC3\xA4.json",
      std::string("a\0b\n", 4),
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result([&] {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto paths = parse_path_list(text, "input", "/folder");
    if (paths.empty()) throw std::logic_error("no path and no error");
    for (const auto& path : paths) {
      if (!path.is_absolute()) throw std::logic_error("a path has lost its folder");
      if (path.string().find('\0') != std::string::npos) throw std::logic_error("a zero byte");
    }
  });
  return 0;
}
