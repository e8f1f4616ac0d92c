// CAM++ against spec/golden: synthetic weights layer by layer, real weights on real speech.

#include <cmath>

#include "audio/source.hpp"
#include "golden_runner.hpp"
#include "model/bundle.hpp"
#include "model/networks.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

Numbers counting(std::int64_t count) {
  Numbers indices(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<float>(i);
  return indices;
}

/// The golden network input is not centred again, but the stem always centres: here the stem
/// becomes a plain convolution on an image that is handed over, and the gather is gone.
model::Graph without_centring(model::Graph graph) {
  // Values 0, 1, 2 are features, indices, rows.
  graph.nodes.erase(graph.nodes.begin());
  graph.values.erase(graph.values.begin(), graph.values.begin() + 2);
  graph.values[0] = {"image", model::ElementType::kF32, {1, 80, -1}, false};
  for (model::Node& node : graph.nodes) {
    for (model::ValueId& id : node.inputs) id -= 2;
    node.output -= 2;
  }
  for (model::ValueId& id : graph.outputs) id -= 2;
  graph.inputs = {0};
  const auto stem = std::get<model::Stem>(graph.nodes[0].block);
  model::Conv2d plain;
  plain.weight = stem.weight;
  plain.bias = stem.bias;
  graph.nodes[0].block = plain;
  return graph;
}

/// The third transit with neither its norm taken away nor its ReLU applied.
model::Graph with_linear_frames(model::Graph graph) {
  for (model::Node& node : graph.nodes) {
    if (node.name != "xvector.transit3") continue;
    std::get<model::Dense>(node.block).activation = model::Activation::kNone;
  }
  return graph;
}

/// Undoes xvector.out_nonlinear, which is folded into the third transit.
Numbers before_out_nonlinear(const Numbers& rows, const model::Checkpoint& checkpoint) {
  const auto part = [&](const char* name) {
    return checkpoint.at(std::string("xvector.out_nonlinear.batchnorm.") + name).values();
  };
  Numbers out(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t c = i % 512;
    const double scale = part("weight")[c] / std::sqrt(part("running_var")[c] + 1e-5);
    out[i] = static_cast<float>((rows[i] - part("bias")[c]) / scale + part("running_mean")[c]);
  }
  return out;
}

model::Graph statistics_graph() {
  Numbers identity(1024 * 1024, 0.0F);
  for (std::size_t i = 0; i < 1024; ++i) identity[i * 1025] = 1.0F;
  model::Graph graph;
  graph.name = "statistics";
  graph.values = {{"frames", model::ElementType::kF32, {-1, 512}, false},
                  {"statistics", model::ElementType::kF32, {1024}, false}};
  const model::StatsHead head{{{1024, 1024}, identity}, {{1024}, Numbers(1024, 0.0F)}};
  graph.nodes = {{"statistics", head, {0}, 1}};
  graph.inputs = {0};
  graph.outputs = {1};
  return graph;
}

class CampplusGolden : public GoldenTest {
 protected:
  /// The first rows of the golden features as an image [1, 80, count].
  static Numbers image(std::int64_t count) {
    return columns_over_time(some_rows(golden("campplus_fbank.npy"), 80, 0, count), 80, 1);
  }
};

TEST_P(CampplusGolden, EveryTap) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const model::Weights weights = synthetic_weights("campplus");
  const model::Graph trunk = without_centring(model::campplus_trunk(weights));
  const Input input{{{image(430)}}, {430}, {}};
  const std::vector<Numbers> out = run_batch(
      device(), trunk.with_outputs({"head", "tdnn", "transit1", "transit2", "frames"}), input)[0];
  const auto compare = [&](const std::string& name, const Numbers& rows, std::int64_t columns,
                           std::int64_t step) {
    expect_close(name, columns_over_time(rows, columns, step), golden(name));
  };
  compare("campplus_head_every_16th.npy", out[0], 320, 16);
  compare("campplus_tdnn_every_8th.npy", out[1], 128, 8);
  compare("campplus_transit1_every_32nd.npy", out[2], 256, 32);
  compare("campplus_transit2_every_32nd.npy", out[3], 512, 32);
  const Numbers linear = run_batch(device(), with_linear_frames(trunk), input)[0][0];
  compare("campplus_transit3_every_32nd.npy",
          before_out_nonlinear(linear, synthetic_checkpoint("campplus")), 512, 32);

  const Numbers statistics = run_batch(device(), statistics_graph(), {{{out[4]}}, {215}, {}})[0][0];
  expect_close("campplus_stats.npy", statistics, golden("campplus_stats.npy"));

  // Pooled over frames 40..119 only, and over frame 57 alone.
  const Outputs pooled =
      run_batch(device(), model::campplus_head(weights),
                {{{some_rows(out[4], 512, 40, 80)}, {some_rows(out[4], 512, 57, 1)}}, {80, 1}, {}});
  const Numbers wanted = golden("campplus_embeddings.npy");
  expect_close("campplus_embeddings.npy_frames_40_to_119", pooled[0][0],
               some_rows(wanted, 192, 4, 1));
  expect_close("campplus_embeddings.npy_frame_57", pooled[1][0], some_rows(wanted, 192, 5, 1));
}

TEST_P(CampplusGolden, InputsOfAnyLength) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const model::Graph graph =
      without_centring(model::campplus_network(synthetic_weights("campplus")));
  Input input;
  for (const int length : {430, 201, 37, 2}) {
    input.items.push_back({image(length)});
    input.lengths.push_back(length);
  }
  const Outputs out = run_batch(device(), graph, input);
  const Numbers wanted = golden("campplus_embeddings.npy");
  for (std::size_t i = 0; i < out.size(); ++i) {
    expect_close("campplus_embeddings.npy_" + std::to_string(input.lengths[i]) + "_rows", out[i][0],
                 some_rows(wanted, 192, static_cast<std::int64_t>(i), 1));
  }
}

/// Gathering and centring inside the graph are the same as doing both before it.
TEST_P(CampplusGolden, GatheredRowsAreCentred) {
  DIARIST_NEED(shared_folder() / "spec" / "golden");
  const model::Weights weights = synthetic_weights("campplus");
  const Numbers features = golden("campplus_fbank.npy");
  Numbers indices, rows;
  for (int t = 3; t < 998; t += t % 50 == 0 ? 41 : 1) {  // with gaps
    indices.push_back(static_cast<float>(t));
    const Numbers row = some_rows(features, 80, t, 1);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const auto length = static_cast<std::int32_t>(indices.size());
  const Numbers got = run_batch(device(), model::campplus_network(weights),
                                {{{{}, indices}}, {length}, features})[0][0];
  const Numbers wanted =
      run_batch(device(), without_centring(model::campplus_network(weights)),
                {{{columns_over_time(centred(rows, 80), 80, 1)}}, {length}, {}})[0][0];
  expect_close("gathered", got, wanted);
}

/// Features and network together, with the published weights.
TEST_P(CampplusGolden, RealWeightsOnRealSpeech) {
  const std::filesystem::path file = shared_folder() / "data" / "captures" / "02" / "clip_16k.wav";
  DIARIST_NEED(file);
  DIARIST_NEED(models_folder() / "open" / "manifest.json");
  const model::Bundle bundle = model::load_bundle(models_folder(), "open", false);
  ASSERT_EQ(bundle.embedding_kind, "campplus");
  Numbers audio(16000 * 31);
  audio.resize(audio::open_file(file)->read(audio));
  const struct {
    double start, length;  // seconds
    std::int64_t rows;
  } pieces[] = {{10.6, 3.5, 348}, {22.0, 5.0, 498}, {18.7, 2.5, 248}, {15.0, 1.5, 148}};
  const Numbers wanted = golden("campplus_real_embeddings.npy");
  std::int64_t number = 0;
  for (const auto& piece : pieces) {
    const auto first = audio.begin() + static_cast<std::ptrdiff_t>(16000 * piece.start);
    const Numbers samples(first, first + static_cast<std::ptrdiff_t>(16000 * piece.length));
    const Numbers rows =
        run_batch(device(), model::campplus_features(),
                  {{{samples}}, {static_cast<std::int32_t>(samples.size())}, {}})[0][0];
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(piece.rows) * 80);
    const Numbers got = run_batch(
        device(), model::campplus_network(bundle.embedding),
        {{{{}, counting(piece.rows)}}, {static_cast<std::int32_t>(piece.rows)}, rows})[0][0];
    // campplus.md (c): the whole f32 chain stays within 2e-5 of the f64 prototype.
    expect_close("campplus_real_embeddings.npy_" + std::to_string(number), got,
                 some_rows(wanted, 192, number, 1), 2e-5);
    ++number;
  }
}

DIARIST_ON_EVERY_DEVICE(CampplusGolden);

}  // namespace
}  // namespace diarist::test
