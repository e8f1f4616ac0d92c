#pragma once
// The preset and the folder of models that options name or leave open.

#include <filesystem>
#include <string>

#include "model/bundle.hpp"

namespace diarist::pipeline {

/// The folder given, or the default one.
std::filesystem::path models_folder(const std::filesystem::path& given);

/// The preset asked for; without a wish community-1 when it is installed, else open.
/// \throws Error kInvalidArgument (unknown name), kBadModel (nothing is installed).
const model::Preset& choose_preset(const std::string& wish, const std::filesystem::path& models);

}  // namespace diarist::pipeline
