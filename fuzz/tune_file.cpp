// backend::cuda::parse_tune_file; what it accepts must come back from its own text.

#include "backend/cuda/choice/tune_file.hpp"

#include "fuzz.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using namespace backend::cuda;
  TuneFile file;
  file.identity = {"NVIDIA H200", 90, 132, "580.82.07", kernel_set_hash()};
  file.entries = {
      {{64, 64, 9, 1, 1, 40, 499, true}, Mode::kFast, 128, KernelId::kConvWalk, 0, 0.302},
      {{64, 64, 9, 1, 1, 40, 499, true}, Mode::kFast, 1, KernelId::kConvWalk, 0, 0.01},
      {{64, 128, 1, 2, 2, 40, 499, false}, Mode::kExact, 32, KernelId::kConvMma, 18, 1.5}};
  const std::string text = to_json_text(file);
  file.entries.resize(1);
  return {text, to_json_text(file), "{}", "[[[[", "{\"format\": \"diarist-tune\"}"};
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  using namespace diarist::backend::cuda;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_error_or_result([&] {
    const TuneFile file = parse_tune_file(text, "input");
    const std::string once = to_json_text(file);
    if (once != to_json_text(parse_tune_file(once, "input"))) std::abort();
    const DeviceFacts device{file.identity.device, file.identity.architecture,
                             file.identity.multiprocessors, 232448};
    check_tune_file(file, file.identity, device, "input");
  });
  return 0;
}
