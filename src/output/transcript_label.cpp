// Speakers for the words and segments of a transcript; docs/transcripts.md has the rules.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "diarist/transcripts.hpp"
#include "output/transcript_text_cut.hpp"
#include "output/transcript_times.hpp"
#include "output/transcript_turn_index.hpp"

namespace diarist {
namespace {

using output::Microseconds;
using output::TimeSpan;
using output::TurnIndex;

constexpr int kNobody = TurnIndex::kNobody;

class Labeller {
 public:
  Labeller(const TurnIndex& turns, const LabelOptions& options)
      : turns_(turns),
        options_(options),
        offset_(output::microseconds(options.offset)),
        max_distance_(output::microseconds(options.max_distance)) {}

  void label(TranscriptSegment& segment) {
    if (segment.words.empty()) {
      segment.speaker = name(speaker_in(span_of(segment.start, segment.end)));
      return;
    }
    std::vector<int> speakers = speakers_of(segment);
    if (options_.smooth) smooth(speakers);
    for (std::size_t i = 0; i < speakers.size(); ++i) segment.words[i].speaker = name(speakers[i]);
    segment.speaker = name(longest_voice(segment.words, speakers));
  }

  void label_alone(TranscriptWord& word) {
    word.speaker = name(speaker_in(span_of(word.start, word.end)));
  }

  const std::string& name(int speaker) const {
    return speaker == kNobody ? options_.unknown
                              : turns_.names()[static_cast<std::size_t>(speaker)];
  }

 private:
  // On the clock of the turns. One time alone, or an end before the start, is a moment.
  std::optional<TimeSpan> span_of(std::optional<double> start, std::optional<double> end) const {
    if (!start && !end) return std::nullopt;
    const Microseconds first = output::microseconds(start ? *start : *end) + offset_;
    const Microseconds last = output::microseconds(end ? *end : *start) + offset_;
    return TimeSpan{first, std::max(first, last)};
  }

  int speaker_in(const std::optional<TimeSpan>& span) {
    if (!span) return kNobody;
    const int speaker = turns_.speaker_in(*span, last_, max_distance_);
    if (speaker != kNobody) last_ = speaker;
    return speaker;
  }

  std::vector<int> speakers_of(const TranscriptSegment& segment) {
    const std::size_t count = segment.words.size();
    std::vector<std::optional<TimeSpan>> spans(count);
    std::vector<int> speakers(count, kNobody);
    bool timed = false;
    for (std::size_t i = 0; i < count; ++i) {
      spans[i] = span_of(segment.words[i].start, segment.words[i].end);
      timed = timed || spans[i].has_value();
      speakers[i] = speaker_in(spans[i]);
    }
    if (!timed) {
      std::fill(speakers.begin(), speakers.end(), speaker_in(span_of(segment.start, segment.end)));
      return speakers;
    }
    for (std::size_t i = 0; i < count;) {
      std::size_t end = i;
      while (end < count && !spans[end]) ++end;
      if (end > i) inherit(spans, speakers, i, end);
      i = std::max(end, i + 1);
    }
    return speakers;
  }

  // Words [from, to) have no times: they take the speaker of their neighbours. Where these differ,
  // each word gets an equal share of the gap between them, and the one who speaks more in it.
  void inherit(const std::vector<std::optional<TimeSpan>>& spans, std::vector<int>& speakers,
               std::size_t from, std::size_t to) const {
    const int before = from > 0 ? speakers[from - 1] : speakers[to];
    const int after = to < speakers.size() ? speakers[to] : before;
    const Microseconds start = from > 0 ? spans[from - 1]->end : 0;
    const Microseconds gap = from > 0 && to < spans.size() ? spans[to]->start - start : 0;
    const auto count = static_cast<Microseconds>(to - from);
    for (std::size_t i = from; i < to; ++i) {
      speakers[i] = before;
      if (before == after || gap <= 0) continue;
      const auto place = static_cast<Microseconds>(i - from);
      const TimeSpan share{start + gap / count * place, start + gap / count * (place + 1)};
      const auto spoken = [&](int speaker) {
        return speaker == kNobody ? 0 : turns_.time_of(speaker, share);
      };
      if (spoken(after) > spoken(before)) speakers[i] = after;
    }
  }

  static void smooth(std::vector<int>& speakers) {
    for (std::size_t i = 1; i + 1 < speakers.size(); ++i)
      if (speakers[i - 1] == speakers[i + 1] && speakers[i - 1] != kNobody)
        speakers[i] = speakers[i - 1];
  }

  // The speaker whose words take the most time; of equal ones the first to speak.
  int longest_voice(const std::vector<TranscriptWord>& words,
                    const std::vector<int>& speakers) const {
    std::map<int, Microseconds> sums;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (speakers[i] == kNobody) continue;
      const std::optional<TimeSpan> span = span_of(words[i].start, words[i].end);
      sums[speakers[i]] += span ? span->end - span->start : 0;
    }
    int best = kNobody;
    for (const int speaker : speakers)
      if (speaker != kNobody && (best == kNobody || sums[speaker] > sums[best])) best = speaker;
    return best;
  }

  const TurnIndex& turns_;
  const LabelOptions& options_;
  Microseconds offset_;
  Microseconds max_distance_;
  int last_ = kNobody;  // who spoke the last word before
};

// The pieces of a segment that one speaker said.
void add_pieces(TranscriptSegment&& segment, std::vector<TranscriptSegment>& pieces) {
  const std::vector<TranscriptWord>& words = segment.words;
  const std::size_t count = words.size();
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < count; ++i)
    if (words[i].speaker != words[i - 1].speaker) cuts.push_back(i);
  if (cuts.empty()) {
    if (count > 0) segment.speaker = words[0].speaker;
    pieces.push_back(std::move(segment));
    return;
  }
  std::vector<std::string> texts = output::cut_text(segment.text, words, cuts);
  cuts.push_back(count);
  std::optional<double> last_end = segment.start;
  std::size_t first = 0;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    TranscriptSegment piece;
    piece.words.assign(words.begin() + static_cast<std::ptrdiff_t>(first),
                       words.begin() + static_cast<std::ptrdiff_t>(cuts[k]));
    piece.origin = segment.origin;
    piece.first_word = segment.first_word + first;
    piece.speaker = piece.words[0].speaker;
    piece.text = std::move(texts[k]);
    // The ends of the segment stay; inside it, pieces go from their first word to their last.
    piece.start = k == 0 ? segment.start : last_end;
    piece.end = std::nullopt;
    for (const TranscriptWord& word : piece.words) {
      const std::optional<double> start = word.start ? word.start : word.end;
      if (k > 0 && start && !piece.end) piece.start = start;
      if (start) piece.end = std::max(*start, word.end.value_or(*start));
    }
    if (k + 1 == cuts.size() && segment.end) piece.end = segment.end;
    if (!piece.end) piece.end = piece.start;
    if (piece.start && piece.end) piece.end = std::max(*piece.start, *piece.end);
    last_end = piece.end;
    first = cuts[k];
    pieces.push_back(std::move(piece));
  }
}

void check(const LabelOptions& options) {
  if (!std::isfinite(options.offset) || std::abs(options.offset) > output::kMostSeconds)
    base::fail(ErrorCode::kInvalidArgument, "offset {}: give seconds, at most {:g}", options.offset,
               output::kMostSeconds);
  if (std::isnan(options.max_distance) || options.max_distance < 0)
    base::fail(ErrorCode::kInvalidArgument, "max_distance {}: give seconds, 0 or more",
               options.max_distance);
  if (options.unknown.empty())
    base::fail(ErrorCode::kInvalidArgument, "the name for nobody is empty; give one");
}

// Words outside segments are mostly the same ones again.
bool same_words(const Transcript& transcript) {
  std::size_t i = 0;
  for (const TranscriptSegment& segment : transcript.segments)
    for (const TranscriptWord& word : segment.words) {
      if (i >= transcript.loose_words.size()) return false;
      const TranscriptWord& loose = transcript.loose_words[i++];
      if (loose.text != word.text || loose.start != word.start || loose.end != word.end)
        return false;
    }
  return i == transcript.loose_words.size();
}

}  // namespace

Transcript label_transcript(Transcript transcript, const std::vector<RttmTurn>& turns,
                            const LabelOptions& options) {
  check(options);
  const TurnIndex index(turns);
  Labeller labeller(index, options);
  for (TranscriptSegment& segment : transcript.segments) labeller.label(segment);
  if (same_words(transcript)) {
    std::size_t i = 0;
    for (const TranscriptSegment& segment : transcript.segments)
      for (const TranscriptWord& word : segment.words)
        transcript.loose_words[i++].speaker = word.speaker;
  } else {
    Labeller alone(index, options);
    for (TranscriptWord& word : transcript.loose_words) alone.label_alone(word);
  }
  if (!options.split) return transcript;
  std::vector<TranscriptSegment> pieces;
  pieces.reserve(transcript.segments.size());
  for (TranscriptSegment& segment : transcript.segments) add_pieces(std::move(segment), pieces);
  transcript.segments = std::move(pieces);
  return transcript;
}

}  // namespace diarist
