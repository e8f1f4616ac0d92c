#pragma once
// From files, folders and archives that a user names to recognized models.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/npy.hpp"
#include "diarist/models.hpp"
#include "model/networks.hpp"

namespace diarist::model {

/// Weights of one recognized file, folded.
struct FoundModel {
  std::string kind;
  Weights weights;
  std::string label;          // file name, or "archive: entry"
  std::string source_sha256;  // of the file as it was read
  Trust trust = Trust::kUnknown;
};

/// A file with PLDA arrays, as it is.
struct FoundPlda {
  std::string file_name;
  std::vector<std::byte> bytes;
  std::string sha256;
  std::string label;
  Trust trust = Trust::kUnknown;
  std::map<std::string, base::NpyArray> arrays;
};

struct FoundInputs {
  std::vector<FoundModel> models;
  std::vector<FoundPlda> plda;
  std::vector<std::string> notes;  // files that were looked at and not used, with the reason
};

/// Looks into everything given. Of a folder or an archive the parts that are no known model are
/// noted and passed over; a file named by itself must be one. \throws Error kNotFound, kBadModel.
FoundInputs find_inputs(const std::vector<std::filesystem::path>& inputs);

/// The model of a kind: the most trusted one; null without any.
/// \throws Error kBadModel when two different ones are equally trusted.
const FoundModel* pick_model(const std::vector<FoundModel>& models, const std::string& kind);

/// PLDA files of a folder, or an empty list.
std::vector<FoundPlda> find_plda(const std::filesystem::path& folder);

}  // namespace diarist::model
