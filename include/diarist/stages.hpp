#pragma once
/// \file
/// Stage results on disk, as NumPy arrays.

#include <filesystem>
#include <span>

#include "diarist/export.hpp"
#include "diarist/result.hpp"

namespace diarist {

/// Writes segmentations.npy [C, 589, 3] (uint8), embeddings.npy [C, 3, D] (float32),
/// hard_clusters.npy [C, 3] (int32) and counts.npy [N] (uint8) into a folder, which is made.
/// \throws Error kBadFile with the reason.
DIARIST_API void save_stages(const StageResults& stages, const std::filesystem::path& folder);

/// Reads segmentations [C, 589, 3] (values 0 or 1, any number type) and embeddings [C, 3, D]; .npy,
/// or .npz with arrays of these names. \throws Error kNotFound, kBadFile naming file and shape.
DIARIST_API StageResults load_stages(const std::filesystem::path& segmentations,
                                     const std::filesystem::path& embeddings);

/// Writes embeddings [rows, dim] (float32) to a .npy file: the old content or the new, never a
/// part. \throws Error kBadFile with the reason, kInvalidArgument when the numbers make no whole
/// rows.
DIARIST_API void save_embeddings(std::span<const float> embeddings, int dim,
                                 const std::filesystem::path& file);

}  // namespace diarist
