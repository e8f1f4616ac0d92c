#pragma once
// Option structs of C as those of C++.

#include <optional>

#include "diarist/diarist.h"
#include "diarist/embedder.hpp"
#include "diarist/options.hpp"
#include "diarist/shaping.hpp"

namespace diarist::capi {

/// All of them: null gives the defaults. \throws Error kInvalidArgument, kUnsupported.
DiarizerOptions options_of(const diarist_options* given);
EmbedderOptions options_of(const diarist_embedder_options* given);
diarist_run_options run_options_of(const diarist_run_options* given);
RunOptions options_of(const diarist_run_options& given);

/// \throws Error kInvalidArgument for null, nonsense sizes, and samples that lie nowhere.
AudioView audio_of(const diarist_audio* given);
TurnShaping shaping_of(const diarist_shaping* given);

}  // namespace diarist::capi
