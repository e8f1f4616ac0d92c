// model::parse_safetensors, and that what was read can be written and read again.

#include "fuzz.hpp"
#include "model/checkpoint.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using test::make_safetensors;
  return {
      make_safetensors(R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}})",
                       std::string(14, '\1')),
      make_safetensors(R"({"__metadata__":{"format":"pt"},)"
                       R"("n":{"dtype":"I64","shape":[],"data_offsets":[8,16]},)"
                       R"("d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}  )",
                       std::string(16, '\2')),
      make_safetensors("{}", ""),
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  model::Checkpoint checkpoint;
  try {
    checkpoint = model::parse_safetensors(fuzz::as_bytes(data, size), "input");
  } catch (const Error&) {
    return 0;
  }
  const auto again = model::parse_safetensors(model::to_safetensors(checkpoint), "output");
  if (again.size() != checkpoint.size()) std::abort();
  return 0;
}
