#pragma once
// Speakers of results named after enrolled voices.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "diarist/voices.hpp"

namespace diarist::cli {

struct VoiceArguments {
  std::string library;  ///< file; empty: no voices
  VoiceOptions options;
  std::optional<VoiceLibrary> voices;  ///< read by load_voices()
};

/// --voices, --voices-threshold, --voices-margin, --voices-min-seconds.
void add_voice_options(CLI::App& command, VoiceArguments& arguments);

/// Reads the library and refuses what can't be used with it, before the work.
/// \throws Error kNotFound, kBadFile, kInvalidArgument.
void load_voices(VoiceArguments& arguments);

/// Refuses voices of another network than the preset's, before the work.
/// \param models folder of the bundles; empty: the default one. \throws Error kInvalidArgument.
void check_voices(const VoiceArguments& arguments, const std::string& preset,
                  const std::string& models);

/// The result with its speakers named, if there are voices; warns of speakers who are most like a
/// voice that names another one. \param input for messages.
Diarization named(Diarization result, const VoiceArguments& arguments, const std::string& input);

}  // namespace diarist::cli
