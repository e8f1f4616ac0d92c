// parse_config: the configuration file of the program.

#include "../cli/config_file.hpp"

#include <stdexcept>

#include "fuzz.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  return {
      "# all verbs\ndevice = \"cuda:0\"\nthreads = 4\n[run]\nexclusive = true\npad = 0.25\n",
      "[models.pull]\nstall = 60\n[bench.embed]\nbatch = [1, 32, 128]\n",
      "names = [\"Ann\\u00e9\", # one\n 'Ben',\n]\r\nrun.step = 2\nrun.\"max-gpu-memory\" = 1e9\n",
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result([&] {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const cli::ConfigEntry& entry : cli::parse_config(text, "input"))
      if (entry.key.empty() ? entry.section.empty() : entry.values.empty())
        throw std::logic_error("an entry says nothing");
  });
  return 0;
}
