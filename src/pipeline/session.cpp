#include "pipeline/session.hpp"

#include <algorithm>
#include <chrono>
#include <future>

#include "base/run_control.hpp"
#include "pipeline/row_masks.hpp"
#include "pipeline/stopwatch.hpp"
#include "timeline/activity.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kChunkSamples;
using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kWindowSeconds = kChunkSamples / static_cast<int>(kSecond);
constexpr std::int64_t kMaskValues = std::int64_t{kLocalSpeakers} * kFramesPerChunk;
// One batch is segmented, one embedded, and the one before may still be computed again.
constexpr int kSlots = 3;

// Short recordings leave gaps between their windows, so there is more tape than one recording
// needs.
int tape_seconds(const SessionOptions& options) {
  return (options.windows - 1) * options.step_seconds + kWindowSeconds + options.windows / 4;
}

model::Graph features_of(const model::Preset& preset) {
  return preset.embedding_kind == "campplus" ? model::campplus_features()
                                             : model::wespeaker_features();
}

std::unique_ptr<backend::Buffer> allocate_masks(backend::Backend& backend, int windows) {
  return backend.allocate(static_cast<std::size_t>(windows * kMaskValues) * sizeof(float));
}

}  // namespace

struct Session::Batch {
  explicit Batch(backend::Queue& queue)
      : uploaded(queue.make_mark()),
        featured(queue.make_mark()),
        segmented(queue.make_mark()),
        embedding(queue.make_mark()),
        embedded(queue.make_mark()) {}

  int slot = 0;
  int seconds = 0;  // of the tape
  int windows = 0;
  std::vector<PairRange> ranges;
  std::vector<std::int32_t> starts;   // second of the tape, per window
  std::vector<std::uint8_t> classes;  // [windows, 589]
  std::unique_ptr<backend::Mark> uploaded, featured, segmented, embedding, embedded;
};

Session::Session(backend::Backend& backend, const model::Bundle& bundle,
                 const model::Preset& preset, const SessionOptions& options)
    : options_(options),
      queue_(backend.make_queue()),
      tape_(backend, *queue_, model::sinc_front_end(bundle.segmentation), features_of(preset),
            tape_seconds(options), kSlots),
      classes_(backend.allocate(static_cast<std::size_t>(options.windows) * kFramesPerChunk)) {
  // Both networks at the same time: packing weights takes longer than everything else here. Whoever
  // asked for one thread gets one.
  const bool alone = in_host_memory() && backend.threads() == 1;
  auto segmentation = std::async(alone ? std::launch::deferred : std::launch::async, [&] {
    // Decisions are hard, so segmentation is exact in every mode (pipeline.md 17).
    return backend.compile(model::segmentation_network(bundle.segmentation),
                           {.max_items = options.windows, .precision = Precision::kExact});
  });
  embedder_ = make_pair_embedder(backend, *queue_, preset, bundle.embedding, options.windows,
                                 tape_.seconds(), options.precision);
  segmentation_ = segmentation.get();
  for (int slot = 0; slot < kSlots; ++slot) {
    masks_.push_back(allocate_masks(backend, options.windows));
    batches_.push_back(std::make_unique<Batch>(*queue_));
    batches_.back()->slot = slot;
  }
  queue_->wait();
}

Session::~Session() = default;

std::vector<backend::Choice> Session::choices() const {
  std::vector<backend::Choice> all(segmentation_->choices().begin(),
                                   segmentation_->choices().end());
  for (backend::Choice& choice : embedder_->choices()) all.push_back(std::move(choice));
  return all;
}

// Batch n + 1 is on its way to the device before the host looks at batch n's activity, so the
// device has work while the host thinks. Order of the device's work: segmentation of 0, 1,
// embeddings of 0, segmentation of 2, embeddings of 1, ...
void Session::run(const Next& next, const Done& done, const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const auto slot_of = [&](int number) -> Batch& {
    return *batches_[static_cast<std::size_t>(number % kSlots)];
  };
  try {
    int filled = 0, embedded = 0, collected = 0;
    for (;;) {
      base::check_stop(stop);
      Batch& batch = slot_of(filled);
      const bool idle = collected == filled;
      fill(batch, idle, next, done, stop);
      const bool any = batch.windows > 0;
      if (any) segment(batch, stop), ++filled;
      if (embedded < filled - (any ? 1 : 0)) embed(slot_of(embedded++), stop);
      if (collected < embedded - (any ? 1 : 0)) {
        collect(slot_of(collected++), done);
      } else if (!any && collected == filled) {
        break;
      }
    }
  } catch (...) {
    failed_ = true;
    current_ = nullptr;
    tape_.discard();
    const std::exception_ptr first = std::current_exception();
    try {
      queue_->wait();  // what is queued uses memory that may be freed now
    } catch (const Error&) {
      embedder_->reset();
      std::rethrow_exception(first);
    }
    embedder_->reset();
    throw;
  }
  device_time_.wall +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Takes windows of the current recording and of those after it.
void Session::fill(Batch& batch, bool idle, const Next& next, const Done& done,
                   const std::stop_token& stop) {
  batch.seconds = batch.windows = 0;
  batch.ranges.clear();
  batch.starts.clear();
  for (;;) {
    if (current_ == nullptr) {
      current_ = next(idle && batch.windows == 0);
      if (current_ == nullptr) break;
      current_->pairs = embedder_->start();
    }
    Recording& recording = *current_;
    int added = 0;
    try {
      added = add_windows(recording, batch, stop);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeviceLost) throw;
      recording.error = std::current_exception();  // decoding failed: of this recording only
      recording.closed = true;
    } catch (const std::bad_alloc&) {
      recording.error = std::current_exception();
      recording.closed = true;
    }
    if (recording.closed) {
      current_ = nullptr;
      if (recording.batches == 0) finish_recording(recording, done);
    } else if (added == 0) {
      break;  // no room is left
    }
  }
}

// Decodes until `until` samples are there, or the recording ends.
void Session::pull(Recording& recording, std::int64_t until, const std::stop_token& stop) {
  while (!recording.ended && recording.decoded < until) {
    base::check_stop(stop);
    std::optional<SampleBlock> block = [&] {
      const Stopwatch watch(device_time_.waited_for_samples);
      return recording.feed->next();
    }();
    if (!block) {
      recording.ended = true;
      break;
    }
    recording.decoded = block->first + block->count;
    recording.held.push_back(*std::move(block));
  }
}

int Session::add_windows(Recording& recording, Batch& batch, const std::stop_token& stop) {
  const std::int64_t step = options_.step_seconds * kSecond;
  const int room = tape_.seconds() - batch.seconds - kWindowSeconds;
  const int most =
      room < 0 ? 0 : std::min(options_.windows - batch.windows, room / options_.step_seconds + 1);
  if (most < 1) return 0;
  NetworkResult& result = recording.result;
  const std::int64_t first = result.chunks * step;
  // One sample more than the windows need shows that these are not the last ones.
  pull(recording, first + (most - 1) * step + kChunkSamples + 1, stop);
  int count = most;
  bool last = false;
  if (recording.ended) {
    const int total = timeline::Grid(recording.decoded, static_cast<int>(step)).chunks();
    count = std::min(most, total - result.chunks);
    last = result.chunks + count == total;
  }
  recording.closed = last;
  if (count < 1) return 0;
  const std::int64_t seconds = std::int64_t{count - 1} * options_.step_seconds + kWindowSeconds;
  {
    const Stopwatch watch(recording.timings.upload);
    write_stretch(recording, first, seconds, batch.seconds * kSecond);
  }
  if (result.chunks == 0) {
    recording.started = std::chrono::steady_clock::now();
    recording.busy_before = device_time_.busy;
  }
  batch.ranges.push_back({.recording = &recording,
                          .first_chunk = result.chunks,
                          .chunks = count,
                          .first_second = batch.seconds,
                          .last = last});
  for (int i = 0; i < count; ++i) batch.starts.push_back(batch.seconds + i * options_.step_seconds);
  batch.seconds += static_cast<int>(seconds);
  batch.windows += count;
  result.chunks += count;
  ++recording.batches;
  while (!recording.held.empty() &&
         recording.held.front().first + recording.held.front().count <= result.chunks * step)
    recording.held.pop_front();
  return count;
}

void Session::write_stretch(const Recording& recording, std::int64_t first, std::int64_t seconds,
                            std::int64_t at) {
  const std::int64_t end = first + seconds * kSecond;
  for (const SampleBlock& block : recording.held) {
    const std::int64_t from = std::max(first, block.first);
    const std::int64_t to = std::min(end, block.first + block.count);
    if (from >= to) continue;
    const auto part = [&](const auto& values) {
      return std::span(values).subspan(static_cast<std::size_t>(from - block.first),
                                       static_cast<std::size_t>(to - from));
    };
    const std::int64_t place = at + from - first;
    if (block.pcm16.empty())
      tape_.write(place, part(block.samples));
    else
      tape_.write(place, part(block.pcm16));
  }
  const std::int64_t silent = std::max(first, std::min(end, recording.decoded));
  tape_.write_zeros(at + silent - first, end - silent);
}

// Queues everything up to the classes; masks stay on the device.
void Session::segment(Batch& batch, const std::stop_token& stop) {
  queue_->set(*batch.uploaded);
  tape_.compute(batch.seconds, batch.slot, stop);
  if (embedder_->checks_turns())
    for (const PairRange& range : batch.ranges) keep_log_mel(range, batch.slot);
  queue_->set(*batch.featured);
  backend::Run run;
  run.items = batch.windows;
  run.inputs = {tape_.samples(batch.starts), tape_.raw(batch.starts)};
  run.outputs = {{classes_.get(), 0, kFramesPerChunk, 0},
                 {masks_[static_cast<std::size_t>(batch.slot)].get(), 0, kMaskValues, 0}};
  run.stop = stop;
  segmentation_->run(*queue_, run);
  batch.classes.resize(static_cast<std::size_t>(batch.windows) * kFramesPerChunk);
  queue_->download(*classes_, 0, std::as_writable_bytes(std::span(batch.classes)));
  queue_->set(*batch.segmented);
}

// The rows that a recording's windows see: 998 of the first one, then a second's rows per step.
void Session::keep_log_mel(const PairRange& range, int slot) {
  LogMelPages& kept = range.recording->result.log_mel;
  const std::int64_t step_rows = options_.step_seconds * kMelPerSecond;
  const std::int64_t have = kept.rows();
  const std::int64_t end =
      std::int64_t{range.first_chunk + range.chunks - 1} * step_rows + kRowsPerWindow;
  const std::int64_t on_tape =
      range.first_second * kMelPerSecond + have - range.first_chunk * step_rows;
  tape_.read_log_mel(slot, on_tape, kept.append(end - have));
}

void Session::embed(Batch& batch, const std::stop_token& stop) {
  {
    const Stopwatch watch(device_time_.waited_for_device);
    queue_->wait_for(*batch.segmented);
  }
  std::size_t window = 0;
  for (const PairRange& range : batch.ranges) {
    Recording& recording = *range.recording;
    std::vector<std::uint8_t>& activity = recording.result.activity;
    const std::size_t at = static_cast<std::size_t>(range.first_chunk) * kFramesPerChunk;
    const std::size_t count = static_cast<std::size_t>(range.chunks) * kFramesPerChunk;
    activity.resize(at + count);
    timeline::decode_classes(std::span(batch.classes).subspan(window, count),
                             std::span(activity).subspan(at, count));
    window += count;
    for (int i = 0; recording.silence_bad_windows && i < range.chunks; ++i) {
      const std::int64_t first =
          std::int64_t{range.first_chunk + i} * options_.step_seconds * kSecond;
      if (recording.feed->bad_in(first, first + kChunkSamples))
        std::fill_n(activity.begin() + static_cast<std::ptrdiff_t>(at) +
                        std::ptrdiff_t{i} * kFramesPerChunk,
                    kFramesPerChunk, std::uint8_t{0});
    }
    recording.result.embeddings.resize(static_cast<std::size_t>(range.first_chunk + range.chunks) *
                                       kLocalSpeakers * static_cast<std::size_t>(embedder_->dim()));
  }
  queue_->set(*batch.embedding);
  embedder_->enqueue({.tape = tape_,
                      .slot = batch.slot,
                      .step_seconds = options_.step_seconds,
                      .ranges = batch.ranges,
                      .masks = masks_[static_cast<std::size_t>(batch.slot)].get(),
                      .stop = stop});
  queue_->set(*batch.embedded);
}

void Session::collect(Batch& batch, const Done& done) {
  {
    const Stopwatch watch(device_time_.waited_for_device);
    queue_->wait_for(*batch.embedded);
  }
  embedder_->collect();
  StageTimings times;
  times.features = queue_->seconds_between(*batch.uploaded, *batch.featured);
  times.segmentation = queue_->seconds_between(*batch.featured, *batch.segmented);
  times.embedding = queue_->seconds_between(*batch.embedding, *batch.embedded);
  device_time_.busy += times.features + times.segmentation + times.embedding;
  for (const PairRange& range : batch.ranges) {
    Recording& recording = *range.recording;
    const double share = static_cast<double>(range.chunks) / batch.windows;
    recording.timings.features += share * times.features;
    recording.timings.segmentation += share * times.segmentation;
    recording.timings.embedding += share * times.embedding;
    --recording.batches;
    if (recording.progress) {
      // Later windows look at what lies behind the begin of the next one again.
      const double heard = static_cast<double>(recording.decoded) / kSecond;
      const double begin =
          static_cast<double>((range.first_chunk + range.chunks) * options_.step_seconds);
      const bool last = recording.closed && recording.batches == 0;
      recording.progress(last ? heard : std::min(begin, heard),
                         static_cast<double>(recording.feed->expected_samples()) / kSecond);
    }
    if (recording.closed && recording.batches == 0) finish_recording(recording, done);
  }
}

void Session::finish_recording(Recording& recording, const Done& done) {
  recording.result.samples = recording.decoded;
  recording.result.bad_samples = recording.feed->bad_count();
  recording.timings.decode += recording.feed->seconds_reading();
  if (!recording.error) recording.result.waveform = recording.feed->take_waveform();
  if (!in_host_memory() && recording.result.chunks > 0) {
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - recording.started).count();
    recording.timings.device_idle =
        std::clamp(1 - (device_time_.busy - recording.busy_before) / wall, 0.0, 1.0);
  }
  recording.held.clear();
  recording.pairs.reset();
  done(recording);
}

}  // namespace diarist::pipeline
