// Writes the synthetic weights of the ResNet34, inputs, and what the GPU makes of them, for
// torch_check.py. Files are safetensors:
//   weights.safetensors              the checkpoint, batch norms not folded
//   inputs.safetensors               features [n, 998, 80], masks [n, 3, 589]
//   <precision>_<family>.safetensors every tap [n, ...], and "alone": the embeddings of a run
//                                    without taps, where kernels may be fused
//
// usage: cuda_dump_embedding FOLDER ITEMS PRECISION/FAMILY...   e.g. fast/any exact/portable

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/cuda/cuda_backend.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

namespace fs = std::filesystem;
using model::Checkpoint;

constexpr int kFrames = 998, kBands = 80, kSpeakers = 3, kMaskFrames = 589;

void write(const fs::path& file, const Checkpoint& tensors) {
  const std::vector<std::byte> bytes = model::to_safetensors(tensors);
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("can't write " + file.string());
}

// Features like centred log-mel rows; masks of a speaker who talks in one piece, of one who is
// heard now and then, and of nobody.
Checkpoint make_inputs(int items) {
  std::vector<float> features, masks;
  std::uint64_t state = 20;
  for (int i = 0; i < items * kFrames * kBands; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    features.push_back(static_cast<float>(static_cast<double>(state >> 11) * 0x1p-52 - 1.0) * 4);
  }
  for (int item = 0; item < items; ++item) {
    for (int f = 0; f < kMaskFrames; ++f)
      masks.push_back(f > 40 * (item % 8) && f < 300 + 20 * (item % 8) ? 1.0F : 0.0F);
    for (int f = 0; f < kMaskFrames; ++f) masks.push_back(f % 7 < 2 ? 0.5F : 0.0F);
    for (int f = 0; f < kMaskFrames; ++f) masks.push_back(0.0F);
  }
  return {{"features", {{items, kFrames, kBands}, std::move(features)}},
          {"masks", {{items, kSpeakers, kMaskFrames}, std::move(masks)}}};
}

struct Wish {
  std::string name;  // "fast_any"
  Precision precision = Precision::kFast;
  backend::cuda::Family family = backend::cuda::Family::kAny;
};

Wish parse_wish(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string precision = text.substr(0, slash);
  const std::string family = slash == std::string::npos ? "any" : text.substr(slash + 1);
  Wish wish{precision + "_" + family, Precision::kFast,
            backend::cuda::family_named(family == "any" ? "" : family)};
  if (precision == "exact")
    wish.precision = Precision::kExact;
  else if (precision == "tf32")
    wish.precision = Precision::kTf32;
  else if (precision != "fast")
    throw std::runtime_error(text + ": fast, exact or tf32, a slash, a family");
  return wish;
}

// All outputs of a graph over a whole batch, by name.
Checkpoint run(backend::Backend& backend, const model::Graph& graph, const Checkpoint& inputs,
               const Wish& wish) {
  const base::TensorF* sources[] = {&inputs.at("features"), &inputs.at("masks")};
  const int items = static_cast<int>(sources[0]->dim(0));
  backend::CompileOptions options;
  options.max_items = items;
  options.precision = wish.precision;
  const auto program = backend.compile(graph, options);
  const auto queue = backend.make_queue();
  std::vector<std::unique_ptr<backend::Buffer>> buffers;
  const auto view_of = [&](std::int64_t count) {
    buffers.push_back(backend.allocate(static_cast<std::size_t>(items * count) * sizeof(float)));
    return backend::View{buffers.back().get(), 0, count, 0};
  };
  backend::Run work;
  work.items = items;
  for (const base::TensorF* source : sources) {
    work.inputs.push_back(view_of(base::element_count(source->shape()) / items));
    queue->upload(*work.inputs.back().buffer, 0, std::as_bytes(source->values()));
  }
  for (const model::ValueId id : graph.outputs)
    work.outputs.push_back(
        view_of(base::element_count(graph.values[static_cast<std::size_t>(id)].shape)));
  program->run(*queue, work);
  program->settle(*queue, work);
  Checkpoint outputs;
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const model::Value& value = graph.values[static_cast<std::size_t>(graph.outputs[o])];
    base::Shape shape = value.shape;
    shape.insert(shape.begin(), items);
    std::vector<float> values(static_cast<std::size_t>(base::element_count(shape)));
    queue->download(*work.outputs[o].buffer, 0, std::as_writable_bytes(std::span(values)));
    queue->wait();
    outputs[value.name] = {shape, std::move(values)};
  }
  return outputs;
}

int dump(int count, char** arguments) {
  if (count < 4) throw std::runtime_error("usage: FOLDER ITEMS PRECISION/FAMILY...");
  const fs::path folder = arguments[1];
  const int items = std::atoi(arguments[2]);
  if (items < 1) throw std::runtime_error("ITEMS: at least 1");
  fs::create_directories(folder);
  const Checkpoint inputs = make_inputs(items);
  write(folder / "weights.safetensors", synthetic_checkpoint("wespeaker-resnet34"));
  write(folder / "inputs.safetensors", inputs);
  const model::Weights weights = synthetic_weights("wespeaker-resnet34");
  int failed = 0;
  for (int i = 3; i < count; ++i) {
    try {
      const Wish wish = parse_wish(arguments[i]);
      const auto backend = backend::cuda::make_cuda_backend(0, wish.family);
      Checkpoint outputs = run(*backend, model::resnet34_taps(weights), inputs, wish);
      outputs["alone"] =
          run(*backend, model::resnet34_on_features(weights), inputs, wish).at("embeddings");
      write(folder / (wish.name + ".safetensors"), outputs);
      std::printf("%s: %zu tensors\n", wish.name.c_str(), outputs.size());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", arguments[i], error.what());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace diarist::test

int main(int count, char** arguments) {
  try {
    return diarist::test::dump(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_dump_embedding: %s\n", error.what());
    return 1;
  }
}
