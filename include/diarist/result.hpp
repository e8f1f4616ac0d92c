#pragma once
/// \file
/// The result of a diarization: a plain value.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diarist/shaping.hpp"

namespace diarist {

struct Waveform;

/// One stretch of speech of one speaker, in seconds; 0 <= start < end.
struct Turn {
  double start = 0;
  double end = 0;
  int speaker = 0;  ///< index into Diarization::speakers
  /// 0 to 1: share of the windows over the turn that heard this speaker, averaged over the turn's
  /// frames (docs/report.md). 1 where nothing is known, e.g. turns read from RTTM.
  float confidence = 1;
};

/// Why a speaker got the name of an enrolled voice, or did not.
enum class VoiceDecision {
  kNamed,      ///< it did
  kLowScore,   ///< no voice reaches the threshold
  kAmbiguous,  ///< the next voice is closer than the margin
  kTaken,      ///< another speaker is more like the same voice
  kTooShort,   ///< the speaker says too little
  kNoVector,   ///< the speaker has no vector
};

/// "named", "low_score", "ambiguous", "taken", "too_short" or "no_vector".
constexpr const char* voice_decision_name(VoiceDecision decision) noexcept {
  constexpr const char* kNames[] = {"named", "low_score", "ambiguous",
                                    "taken", "too_short", "no_vector"};
  return kNames[static_cast<int>(decision)];
}

/// What a comparison with enrolled voices said about a speaker (voices.hpp).
struct SpeakerVoice {
  std::string speaker;  ///< the name before: "SPEAKER_02"
  std::string best;     ///< the voice with the best score; empty: nothing was compared
  double score = 0;     ///< its score, -1 to 1
  std::string next;     ///< the voice behind it; empty: there is none
  double next_score = 0;
  VoiceDecision decision = VoiceDecision::kLowScore;
};

/// One of the voices of a recording.
struct Speaker {
  std::string name;              ///< "SPEAKER_00", ...
  double speech_seconds = 0;     ///< sum of this speaker's turns
  std::vector<float> embedding;  ///< centroid of the speaker's cluster; zeros when it has none
  std::optional<SpeakerVoice> voice = {};  ///< unset unless compared with voices
};

/// Results of the stages between audio and turns (RunOptions::keep_stages).
struct StageResults {
  int chunks = 0;                           ///< C
  int embedding_dim = 0;                    ///< D: 256 or 192
  std::vector<std::uint8_t> activity;       ///< [C, 589] bit s = local speaker s speaks
  std::vector<float> embeddings;            ///< [C, 3, D]; a row of NaN: no vector for this pair
  std::vector<std::int32_t> hard_clusters;  ///< [C, 3]; -2: unassigned or inactive
  std::vector<std::uint8_t> counts;         ///< [N] speakers per output frame
};

/// Seconds spent per stage. On a GPU the stages overlap, with each other and with those of other
/// recordings, so their sum may exceed `total`.
struct StageTimings {
  double decode = 0;        ///< reading and decoding, resampling, down-mix
  double upload = 0;        ///< handing samples to the device
  double features = 0;      ///< log-mel rows and sinc convolution, time of the device
  double segmentation = 0;  ///< time of the device
  double embedding = 0;     ///< time of the device, the turn check included
  double clustering = 0;    ///< from embeddings to speakers
  double output = 0;        ///< from speakers to turns
  double total = 0;         ///< wall time of the run; of one among many files: 0
  /// Share of the time between this recording's first and last window in which its GPU had nothing
  /// to do; negative on processors.
  double device_idle = -1;

  /// Adds the seconds of every stage; the idle share stays.
  StageTimings& operator+=(const StageTimings& other) noexcept {
    decode += other.decode;
    upload += other.upload;
    features += other.features;
    segmentation += other.segmentation;
    embedding += other.embedding;
    clustering += other.clustering;
    output += other.output;
    total += other.total;
    return *this;
  }
};

/// What a device did during a run of many files.
struct DeviceReport {
  std::string name;  ///< "cuda:0"
  double busy = 0;   ///< seconds in which it worked on features and networks
  double wall = 0;   ///< seconds from the first file to the last
  /// Seconds in which the thread that feeds the device waited for it: much of it means that the
  /// device sets the pace.
  double waited_for_device = 0;
  double waited_for_samples = 0;  ///< or waited for decoders: they set the pace
  std::size_t memory_bytes = 0;   ///< held on the device
};

/// A run of many files as a whole.
struct RunReport {
  double seconds = 0;        ///< wall time
  double audio_seconds = 0;  ///< decoded, of all files
  StageTimings stages;       ///< sums over the files
  std::vector<DeviceReport> devices;
};

/// How the recording was read (AudioOptions).
struct InputSettings {
  std::string raw;  ///< "f32le:16000:1"; empty: the recording had a header
  int track = 0;    ///< 0: not asked for
  int channel = 0;  ///< the one that was used alone, from 1; 0: none
  bool split_channels = false;
  double from = 0;  ///< seconds
  double to = 0;    ///< seconds; 0: to the end
  bool container_clock = false;
};

/// How speakers were compared with enrolled voices (VoiceOptions).
struct VoiceSettings {
  double threshold = 0;
  double margin = 0;
  double min_seconds = 0;
};

/// What was really used, after defaults were filled in.
struct EffectiveSettings {
  std::string preset;
  std::string device;
  std::string kernels;    ///< instruction set or kernel family that ran
  std::string precision;  ///< "exact" or "fast"
  bool reference = false;
  int step_seconds = 1;
  int threads = 1;
  int num_speakers = 0;                     ///< 0: not given
  int min_speakers = 0;                     ///< 0: not given
  int max_speakers = 0;                     ///< 0: not given
  std::vector<std::string> models;          ///< "segmentation sha256:...", one line per model file
  std::vector<std::string> kernel_choices;  ///< "conv_walk: 7", kernels and how many layers use it
  TurnShaping shaping;                      ///< what shaped() did; names are in `renames`
  InputSettings audio;
  std::optional<VoiceSettings> voices = {};  ///< unset unless compared with voices
};

/// Who spoke when in one recording, and how that was found.
struct Diarization {
  std::string uri;                    ///< name of the recording; empty for audio from memory
  double duration = 0;                ///< seconds to the end of the audio that was decoded
  std::vector<Turn> turns;            ///< sorted by start, then end, then speaker
  std::vector<Turn> exclusive_turns;  ///< at most one speaker at a time
  std::vector<Speaker> speakers;      ///< in the order of their names
  std::vector<std::string> warnings;
  EffectiveSettings settings;
  StageTimings timings;
  std::shared_ptr<const StageResults> stages;  ///< null unless asked for
  std::shared_ptr<const Waveform> waveform;    ///< null unless asked for (waveform.hpp)
};

}  // namespace diarist
