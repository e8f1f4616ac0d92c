#pragma once
/// \file
/// Enrolled voices: a library of people's embeddings, and speakers of a result named after them.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/embedder.hpp"
#include "diarist/export.hpp"
#include "diarist/result.hpp"

namespace diarist {

/// The embedding network behind vectors. Those of two networks, or of one with other weights, say
/// nothing about each other.
struct VoiceModel {
  std::string network;  ///< "campplus" or "wespeaker-resnet34"
  std::string sha256;   ///< of the weights, 64 hexadecimal digits
  int dim = 0;          ///< numbers of a vector; 0: not known (a recording without speech)

  friend bool operator==(const VoiceModel&, const VoiceModel&) = default;
};

/// Network of a result's speakers. \throws Error kInvalidArgument for a result that no network
/// made, e.g. one that was read from RTTM.
DIARIST_API VoiceModel voice_model(const Diarization& result);
/// Network of an embedder.
DIARIST_API VoiceModel voice_model(const EmbedderInfo& info);

/// One enrolment of a voice.
struct VoiceSample {
  std::vector<float> embedding;  ///< [dim], of length 1 once it is in a library
  double seconds = 0;            ///< of speech it was made from; 0: not known
  std::string source;            ///< for people: "meeting SPEAKER_01"; UTF-8 once it is there
};

/// A person of a library.
struct Voice {
  std::string name;
  std::vector<VoiceSample> samples;  ///< in the order in which they were added; never empty
};

/// How much a vector is like a voice.
struct VoiceMatch {
  std::string name;
  double score = 0;  ///< -1 to 1: cosine of the vector and the mean of the voice's samples
};

/// Named voices of one network: a value, kept in a file of JSON that people can read
/// (docs/voices.md). Embeddings are biometric data.
///
///     diarist::VoiceLibrary voices = diarist::VoiceLibrary::load("team.voices");
///     voices.add("Anna", diarizer.run("anna.wav"), "SPEAKER_00");
///     voices.save("team.voices");
///     diarist::Diarization named = diarist::name_speakers(diarizer.run("meeting.wav"), voices);
class DIARIST_API VoiceLibrary {
 public:
  static constexpr std::size_t kMostSamples = 100;    ///< of one voice
  static constexpr std::size_t kMostNameBytes = 256;  ///< of a name in UTF-8

  /// Without voices; takes the network of the first one that is added.
  VoiceLibrary() = default;

  /// Reads a file. \throws Error kNotFound; kBadFile naming the place that is wrong.
  static VoiceLibrary load(const std::filesystem::path& file);
  /// The same from its text. \param source name for messages.
  static VoiceLibrary parse(std::string_view text, const std::string& source);

  /// The file's text: same voices, same bytes, whatever order they were added in; vectors come back
  /// bit by bit.
  std::string to_text() const;
  /// Writes the file: readers see the old content or the new, never a part. A file that was not
  /// there is readable by its owner only. \throws Error kBadFile.
  void save(const std::filesystem::path& file) const;

  /// Network of the vectors; unset before the first voice.
  const std::optional<VoiceModel>& model() const noexcept { return model_; }
  /// Sorted by the bytes of their names.
  std::span<const Voice> voices() const noexcept { return voices_; }
  /// The voice of a name; null when there is none.
  const Voice* find(std::string_view name) const noexcept;

  /// Enrols a vector under a name; a voice that is there already gets one sample more.
  /// \param sample its vector may have any length but 0.
  /// \throws Error kInvalidArgument for another network than that of the voices, a vector with a
  /// wrong number of numbers, with NaN or of zeros, seconds that are not >= 0, a full voice, and a
  /// name that is empty, too long, no UTF-8, has control characters or blanks at its ends, or looks
  /// like SPEAKER_00.
  void add(const std::string& name, const VoiceModel& model, VoiceSample sample);
  /// Enrols a speaker of a result: its centroid and seconds of speech.
  /// \param speaker name in the result, e.g. "SPEAKER_00". \throws Error kInvalidArgument also for
  /// a speaker that is not there or has no vector.
  void add(const std::string& name, const Diarization& result, const std::string& speaker);

  /// Takes a voice out. \throws Error kInvalidArgument when there is none of the name.
  void remove(const std::string& name);
  /// Takes one sample out, and with the last one the voice. \param sample index into its samples.
  void remove(const std::string& name, std::size_t sample);
  /// \throws Error kInvalidArgument when there is no `name`, or another voice is called `to`.
  void rename(const std::string& name, const std::string& to);

  /// Every voice with its score for a vector, best first; of equal ones in the order of the names.
  /// \param embedding [dim], of the network `model`. \throws Error kInvalidArgument as add() does.
  std::vector<VoiceMatch> match(std::span<const float> embedding, const VoiceModel& model) const;

 private:
  std::optional<VoiceModel> model_;
  std::vector<Voice> voices_;
};

/// When a speaker gets the name of a voice.
struct VoiceOptions {
  /// Least score, -1 to 1; unset: the one that was measured for the network (docs/voices.md).
  std::optional<double> threshold;
  double margin = 0.1;     ///< least distance to the score of the next voice, >= 0
  double min_seconds = 2;  ///< least speech of a speaker in the recording, >= 0
};

/// Threshold that was measured for a network; unset for one that nobody measured.
DIARIST_API std::optional<double> measured_voice_threshold(const VoiceModel& model);

/// The result with its speakers named after the voices they are most like; the others keep their
/// names. A voice names one speaker at most: of several the one with the highest score, of equal
/// ones the first. Speaker::voice tells what was found for each, settings.voices how it was judged;
/// names are put in place by shaped().
/// \throws Error kInvalidArgument for options that are no numbers or outside their range, voices of
/// another network than the result's, a result that no network made, and a network for which no
/// threshold was measured and none is given.
DIARIST_API Diarization name_speakers(Diarization result, const VoiceLibrary& library,
                                      const VoiceOptions& options = {});

}  // namespace diarist
