#pragma once
/// \file
/// Speaker embeddings as an object of their own: features, masks or audio in, vectors out.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/audio.hpp"
#include "diarist/dlpack.hpp"
#include "diarist/export.hpp"
#include "diarist/options.hpp"
#include "diarist/run_control.hpp"

namespace diarist {

/// What an Embedder is made of.
struct EmbedderOptions {
  /// "open", "open-lite", "community-1", "pyannote-3.1", or empty for the best installed one: the
  /// embedding network of that preset. Ignored when `weights` is given.
  std::string preset;
  /// Folder that holds the model bundles; empty: $DIARIST_MODELS, then $XDG_CACHE_HOME/diarist.
  std::filesystem::path models;
  /// A bundle's folder, or a weight file (safetensors, torch archive, ONNX): WeSpeaker ResNet34 or
  /// CAM++ under their published names, batch norms folded (`<conv>.weight`,
  /// `<conv>.weight_bias`) or not.
  std::filesystem::path weights;
  bool allow_unknown_weights = false;  ///< accept weights whose fingerprint is not known
  std::string device = "cpu";          ///< "cpu", "reference", "cuda" or "cuda:N"
  /// Unset: kFast on GPUs, kExact elsewhere.
  std::optional<Precision> precision;
  int threads = 0;     ///< worker threads of a CPU; 0: all processors this process may use
  std::string target;  ///< force a CPU instruction set or GPU kernels by name; empty: the best
  /// Chunks per batch, at most 4096; 0: the device chooses. Never changes a result of own kernels;
  /// a vendor library (info() tells where it runs) may round otherwise in another batch.
  int batch = 0;
  bool kernel_only = false;  ///< no vendor library: a layer without an own kernel is an error
  bool graph = true;         ///< GPUs: record a batch's work once and replay it
  std::filesystem::path tune_file;  ///< GPUs: choices measured by `diarist tune`; empty: none
  /// Gets what a user should know once per model; called from the thread of a call.
  std::function<void(LogLevel, std::string_view)> log;
};

/// f32 numbers in C order, on the host or on a GPU. They stay the caller's.
struct DeviceTensor {
  enum class Kind { kHost, kCuda };
  float* data = nullptr;
  std::int64_t elements = 0;
  Kind kind = Kind::kHost;
  int device = 0;  ///< number of the GPU
};

/// A stretch of a recording in seconds; 0 <= start < end.
struct TimeSpan {
  double start = 0;
  double end = 0;
};

/// An intermediate result, valid during the callback only.
struct Tap {
  std::string_view name;                ///< "stem", "layer2.0.hidden", "layer2.0", "pooled", ...
  std::span<const std::int64_t> shape;  ///< [b, channels, frequency, time], or [b*3, columns]
  std::span<const float> values;        ///< on the host, in C order
  DeviceTensor device;                  ///< the same where it was computed
};

/// What was chosen for a layer, and why.
struct LayerChoice {
  std::string layer;
  std::string kernel;
  std::string reason;
};

/// What an Embedder was made of, after defaults were filled in.
struct EmbedderInfo {
  std::string network;          ///< "wespeaker-resnet34" or "campplus"
  std::string weights;          ///< where they come from, "sha256:..." and how far they are trusted
  int dim = 0;                  ///< numbers of an embedding
  std::string device;           ///< "cpu", "reference", "cuda:0"
  std::string kernels;          ///< instruction set or kernel family
  std::string features_device;  ///< where embed() and features() compute the log-mel rows
  std::string precision;        ///< "exact", "fast" or "tf32"
  int threads = 1;
  int batch = 0;                    ///< chunks (ResNet34) or pieces (CAM++) per batch
  int plans = 0;                    ///< distinct plans: layers of one shape share one
  std::size_t buffer_bytes = 0;     ///< inputs and outputs of a batch
  std::size_t workspace_bytes = 0;  ///< intermediate maps, and what the largest plan needs
  std::vector<LayerChoice> layers;  ///< in the order of the network
};

/// Mean that features() removes per mel band.
enum class FeatureMean {
  kChunk,  ///< over all 998 rows, zero padding included: windows of a recording
  kPiece,  ///< over the rows that lie wholly in the audio given: single pieces
};

/// One embedding network on one device, immutable. Safe to use from many threads; calls that
/// overlap work on plans and buffers of their own. A result depends on nothing but its own chunk
/// or span: not on the batch, its neighbours, threads or earlier calls.
///
///     diarist::Embedder embedder({.preset = "open"});
///     std::vector<float> voice = embedder.embed("speaker.wav");
class DIARIST_API Embedder {
 public:
  static constexpr int kRows = 998;          ///< feature rows of a chunk of 10 s
  static constexpr int kBands = 80;          ///< mel bands
  static constexpr int kSpeakers = 3;        ///< masks per chunk
  static constexpr int kMaskFrames = 589;    ///< of a mask
  static constexpr int kTaps = 38;           ///< of forward_with_taps()
  static constexpr double kShortest = 0.25;  ///< seconds that embed() needs

  /// Loads and checks the weights and makes the plans: what can fail fails here.
  /// \throws Error kBadModel, kNotFound, kInvalidArgument, kUnsupported, kOutOfMemory.
  explicit Embedder(const EmbedderOptions& options);
  ~Embedder();
  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;

  /// Numbers of an embedding: 256 (ResNet34) or 192 (CAM++).
  int dim() const noexcept;
  EmbedderInfo info() const;

  /// The log-mel rows [998, 80] of at most 10 s of audio, zero-padded to 10 s, mean removed.
  /// \throws Error kInvalidArgument for longer audio, and for less than one row (25 ms).
  std::vector<float> features(const AudioView& audio, FeatureMean mean = FeatureMean::kChunk) const;

  /// ResNet34 on n chunks, n being taken from the length of `features`.
  /// \param features [n, 998, 80], mean removed. \param masks [n*3, 589], weights 0..1.
  /// \param embeddings [n*3, 256], one row per (chunk, mask); an empty mask gives the head's bias.
  /// \throws Error kInvalidArgument naming the buffer whose length is wrong, before anything runs;
  /// kUnsupported when the network is CAM++, which has no masks; kCancelled.
  void forward(std::span<const float> features, std::span<const float> masks,
               std::span<float> embeddings, const std::stop_token& stop = {}) const;

  /// The same on memory of this embedder's device, without a copy. With a stream (a cudaStream_t,
  /// null being the default stream) the work is queued there, behind what the caller queued before;
  /// without one the inputs must be complete. The embeddings are complete when the call returns.
  void forward(const DeviceTensor& features, const DeviceTensor& masks,
               const DeviceTensor& embeddings, std::optional<void*> stream = std::nullopt) const;

  /// The same on DLPack tensors, f32 and contiguous: features [n, 998, 80], masks [n*3, 589] or
  /// [n, 3, 589], both on the host or both on this embedder's device. They are only borrowed. The
  /// result [n*3, 256] lies where the inputs lie; its deleter must be called, and it may outlive
  /// the embedder. \throws Error kInvalidArgument, kUnsupported naming the tensor and the property.
  dlpack::ManagedTensor* forward(const dlpack::ManagedTensor& features,
                                 const dlpack::ManagedTensor& masks,
                                 std::optional<void*> stream = std::nullopt) const;

  /// forward() on the host that shows every intermediate, in the order of the network: stem, then
  /// per block hidden, shortcut (where there is one) and output, then pooled and embeddings. All
  /// maps exist, are shown as f32 (a GPU may hold them as halves) and are kept until the end: about
  /// 160 MB per chunk. Makes its plans anew.
  void forward_with_taps(std::span<const float> features, std::span<const float> masks,
                         const std::function<void(const Tap&)>& callback) const;

  /// One embedding per span of a recording, [spans, dim]; without spans one for the whole of it.
  /// A span is cut into equal pieces of at most 10 s. ResNet34: each stands at the start of a
  /// zero-padded chunk, its mean taken over the piece, its mask being the piece. CAM++: each goes
  /// through the network by itself. The result is their average weighted by feature rows.
  /// An end behind the recording's counts as its end and is reported to control.log.
  /// \throws Error kInvalidArgument naming the span that is empty, outside, or under 0.25 s.
  std::vector<float> embed(const AudioView& audio, std::span<const TimeSpan> spans = {},
                           const RunControl& control = {}) const;
  /// The file is read as `audio` says; spans stay times of the whole recording, and must lie
  /// between its `from` and `to`. \throws also kNotFound, kBadFile.
  std::vector<float> embed(const std::filesystem::path& file, std::span<const TimeSpan> spans = {},
                           const RunControl& control = {}, const AudioOptions& audio = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace diarist
