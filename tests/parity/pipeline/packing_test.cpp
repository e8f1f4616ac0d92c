// Windows of many recordings in common batches, on one session or two, against each recording
// alone.

#include <atomic>
#include <cmath>
#include <map>

#include "audio/source.hpp"
#include "backend/registry.hpp"
#include "diarist/diarizer.hpp"
#include "model/bundle.hpp"
#include "pipeline/file_queue.hpp"
#include "recordings.hpp"

namespace diarist {
namespace {

using pipeline::Recording;
using pipeline::Session;

constexpr std::int64_t kFailAt = 7 * 16000;

/// A stretch of a recording; fails in the middle when asked to.
class CutSource final : public audio::Source {
 public:
  CutSource(const std::vector<float>& samples, std::int64_t first, std::int64_t count, bool fails)
      : rest_(std::span(samples).subspan(static_cast<std::size_t>(first),
                                         static_cast<std::size_t>(count))),
        count_(count),
        fails_(fails) {}
  std::size_t read(std::span<float> out) override {
    if (fails_ && count_ - static_cast<std::int64_t>(rest_.size()) >= kFailAt)
      throw Error(ErrorCode::kBadFile, "broken in the middle");
    const std::size_t count = std::min({out.size(), rest_.size(), std::size_t{16000}});
    std::copy_n(rest_.begin(), count, out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  std::int64_t expected_samples() const noexcept override { return count_; }
  const std::vector<std::string>& warnings() const noexcept override { return warnings_; }

 private:
  std::span<const float> rest_;
  std::int64_t count_;
  bool fails_;
  std::vector<std::string> warnings_;
};

struct Cut {
  std::int64_t first, count;
  bool fails = false;
};

/// Everything the networks said, as bytes.
std::string bytes_of(const Recording& recording) {
  std::string text;
  const auto add = [&](std::span<const std::byte> bytes) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const pipeline::NetworkResult& result = recording.result;
  text += std::to_string(result.samples) + "/" + std::to_string(result.chunks) + "/";
  add(std::as_bytes(std::span(result.activity)));
  add(std::as_bytes(std::span(result.embeddings)));
  result.log_mel.for_each_part(0, result.log_mel.rows(),
                               [&](std::span<const float> part) { add(std::as_bytes(part)); });
  return text;
}

class Packing : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    const auto [device, preset] = GetParam();
    DIARIST_NEED(test::models_folder() / "open");
    DIARIST_NEED(test::recording("sample"));
    if (device != "cpu" && backend::expand_devices("cuda") == std::vector<std::string>{"cuda"})
      GTEST_SKIP() << "no GPU";
    backend_ = backend::make_backend({.device = device == "cpu" ? "cpu" : "cuda:0", .threads = 2});
    preset_ = model::find_preset(preset);
    bundle_ = model::load_bundle(test::models_folder(), "open", false);
    const auto source = audio::open_file(test::recording("sample"));
    samples_.resize(static_cast<std::size_t>(source->expected_samples()));
    samples_.resize(source->read(samples_));
  }

  std::unique_ptr<Session> session(int windows, int step = 1) {
    return std::make_unique<Session>(*backend_, bundle_, preset_,
                                     pipeline::SessionOptions{windows, step, Precision::kExact});
  }

  /// Runs cuts through sessions; bytes of the networks' results, or the errors.
  std::vector<std::string> run(const std::vector<Cut>& cuts, std::vector<Session*> sessions) {
    std::vector<std::string> results(cuts.size());
    std::size_t delivered = 0;
    pipeline::QueueWork work;
    work.count = cuts.size();
    work.open = [&](std::size_t i) -> std::unique_ptr<audio::Source> {
      if (cuts[i].first < 0) throw Error(ErrorCode::kNotFound, "not there");
      return std::make_unique<CutSource>(samples_, cuts[i].first, cuts[i].count, cuts[i].fails);
    };
    work.finish = [&](std::size_t i, std::size_t, Recording& recording) {
      results[i] = bytes_of(recording);
      Diarization result;
      result.duration = static_cast<double>(i);
      return result;
    };
    work.sink = [&](std::size_t i, const std::optional<Diarization>& result,
                    const std::exception_ptr& error) {
      EXPECT_EQ(i, delivered++);
      if (!error) {
        EXPECT_EQ(result->duration, static_cast<double>(i));
        return true;
      }
      try {
        std::rethrow_exception(error);
      } catch (const Error& known) {
        results[i] = known.what();
      }
      return true;
    };
    run_queue(sessions, work, {.decoders = 2, .finishers = 2}, {});
    EXPECT_EQ(delivered, cuts.size());
    return results;
  }

  std::vector<std::string> each_alone(const std::vector<Cut>& cuts, int windows, int step = 1) {
    std::vector<std::string> results;
    const auto own = session(windows, step);
    for (const Cut& cut : cuts) results.push_back(run({cut}, {own.get()})[0]);
    return results;
  }

  std::unique_ptr<backend::Backend> backend_;
  model::Preset preset_;
  model::Bundle bundle_;
  std::vector<float> samples_;
};

const std::vector<Cut> kCuts = {{0, 480000},     {3000, 160000}, {0, 0},
                                {16000, 1},      {777, 160001},  {100000, 190000},
                                {200000, 15999}, {5, 320000},    {240000, 240000}};

TEST_P(Packing, NeighboursInABatchDoNotMatter) {
  const std::vector<std::string> wanted = each_alone(kCuts, 5);
  EXPECT_EQ(wanted[2].substr(0, 4), "0/0/");
  EXPECT_EQ(wanted[0].substr(0, 10), "480000/21/");
  for (const int windows : {7, 64}) {
    const auto one = session(windows);
    EXPECT_EQ(run(kCuts, {one.get()}), wanted) << windows << " windows";
    const std::vector<Cut> reversed(kCuts.rbegin(), kCuts.rend());
    std::vector<std::string> got = run(reversed, {one.get()});
    std::reverse(got.begin(), got.end());
    EXPECT_EQ(got, wanted) << windows << " windows, reversed";
  }
}

TEST_P(Packing, SessionsShareTheWork) {
  const std::vector<std::string> wanted = each_alone(kCuts, 16);
  const auto one = session(9), two = session(30);
  EXPECT_EQ(run(kCuts, {one.get(), two.get()}), wanted);
  EXPECT_EQ(run(kCuts, {two.get(), one.get()}), wanted);
}

TEST_P(Packing, LargerSteps) {
  for (const int step : {2, 5}) {
    const std::vector<std::string> wanted = each_alone(kCuts, 3, step);
    const auto one = session(11, step);
    EXPECT_EQ(run(kCuts, {one.get()}), wanted) << "step " << step;
  }
}

TEST_P(Packing, ABadRecordingStopsNothing) {
  std::vector<Cut> cuts = kCuts;
  const std::vector<std::string> good = each_alone(kCuts, 8);
  cuts[1] = {-1, 0};
  cuts[5].fails = true;
  cuts[0].fails = true;
  const auto one = session(12);
  const std::vector<std::string> got = run(cuts, {one.get()});
  for (std::size_t i = 0; i < cuts.size(); ++i)
    EXPECT_EQ(got[i], i == 1 ? "not there" : cuts[i].fails ? "broken in the middle" : good[i]) << i;
  EXPECT_FALSE(one->failed());
  EXPECT_EQ(run(kCuts, {one.get()}), good) << "afterwards";
}

TEST_P(Packing, AnErrorOfTheSessionReachesItsRecordings) {
  const auto one = session(4);
  pipeline::QueueWork work;
  work.count = 6;
  work.open = [&](std::size_t) { return std::make_unique<CutSource>(samples_, 0, 300000, false); };
  work.finish = [](std::size_t, std::size_t, Recording&) { return Diarization{}; };
  int calls = 0, errors = 0;
  work.progress = [&](double) {
    if (++calls == 3) throw Error(ErrorCode::kDeviceLost, "lost");
  };
  work.sink = [&](std::size_t, const std::optional<Diarization>&, const std::exception_ptr& error) {
    if (error) ++errors;
    return true;
  };
  std::vector<Session*> sessions = {one.get()};
  run_queue(sessions, work, {.decoders = 2, .finishers = 1}, {});
  EXPECT_TRUE(one->failed());
  EXPECT_GE(errors, 4);
}

TEST_P(Packing, StopsWhenAskedTo) {
  const auto one = session(4);
  for (const bool by_sink : {true, false}) {
    pipeline::QueueWork work;
    std::stop_source stop;
    work.count = 40;
    work.open = [&](std::size_t) {
      return std::make_unique<CutSource>(samples_, 0, 200000, false);
    };
    work.finish = [](std::size_t, std::size_t, Recording&) { return Diarization{}; };
    int delivered = 0;
    work.sink = [&](std::size_t, const std::optional<Diarization>&, const std::exception_ptr&) {
      if (++delivered == 2 && !by_sink) stop.request_stop();
      return !(by_sink && delivered == 2);
    };
    const auto own = session(4);
    std::vector<Session*> sessions = {own.get()};
    if (by_sink) {
      run_queue(sessions, work, {.decoders = 2, .finishers = 1}, stop.get_token());
      EXPECT_EQ(delivered, 2);
    } else {
      try {
        run_queue(sessions, work, {.decoders = 2, .finishers = 1}, stop.get_token());
        FAIL() << "ran to its end";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kCancelled);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Packing,
                         testing::Combine(testing::Values("cpu", "cuda"),
                                          testing::Values("open", "open-lite")),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  (std::get<1>(test.param) == "open" ? "open" : "lite");
                         });

}  // namespace
}  // namespace diarist
