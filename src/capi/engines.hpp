#pragma once
// Handles of the two objects that hold weights.

#include "capi/handles.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/embedder.hpp"

namespace diarist::capi {

using Diarizers = Handles<HandleKind::kDiarizer, diarist_diarizer, Diarizer>;
using Embedders = Handles<HandleKind::kEmbedder, diarist_embedder, Embedder>;

}  // namespace diarist::capi
