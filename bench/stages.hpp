#pragma once
// Stages on the way from a file to the turns that are no networks, over inputs of any size. What
// they return can be called again and again and does the same each time, on the calling thread.

#include <functional>
#include <memory>

#include "cluster/speakers.hpp"
#include "fixed_inputs.hpp"

namespace diarist::bench {

using Call = std::function<void()>;
using Talk = std::shared_ptr<const Conversation>;

/// A WAV file in memory, decoded and mixed to one channel.
Call read_wav(int seconds, int channels, int rate);

/// \param reference the reference's windowed sinc instead of libsoxr.
Call resample(int seconds, int rate, bool reference);

/// Classes to activity, and a mask for every pair of window and speaker.
Call find_activity(const Talk& talk);

/// Counts, reconstruction, segments and names.
Call make_turns(const Talk& talk);

/// Centroid linkage of all vectors and the cut.
Call link(const Talk& talk);

/// \param dim of the features; that many columns of the conversation are taken.
Call run_vbx(const Talk& talk, int dim, int iterations);

/// From embeddings to speakers. kVbxPlda gets a PLDA of random numbers and needs 256 dimensions.
Call find_speakers(const Talk& talk, cluster::Method method);

/// Turns in every format, RTTM and JSON read back.
Call write_formats(const Talk& talk);

}  // namespace diarist::bench
