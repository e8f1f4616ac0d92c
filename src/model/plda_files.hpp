#pragma once
// PLDA arrays out of plda.npz + xvec_transform.npz, or the same arrays as six .npy files.

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/npy.hpp"
#include "model/bundle.hpp"

namespace diarist::model {

/// Shapes that the six arrays must have (models.md (d)).
const std::map<std::string, base::Shape>& plda_shapes();

/// Arrays of one file by their plain names ("mean1", ...): an archive holds several; a single array
/// is named by its file, with or without "plda_" in front. Foreign arrays are left out.
/// \throws Error kBadFile.
std::map<std::string, base::NpyArray> read_plda_file(std::span<const std::byte> bytes,
                                                     const std::string& file_name,
                                                     const std::string& source);

/// Puts the six arrays together, widened to f64.
/// \throws Error kBadModel naming a missing, misshaped or non-finite array.
PldaArrays assemble_plda(const std::map<std::string, base::NpyArray>& arrays,
                         const std::string& source);

}  // namespace diarist::model
