#include "model/plda_files.hpp"

#include <cmath>
#include <filesystem>

#include "base/error.hpp"

namespace diarist::model {
namespace {

std::vector<double> take(const std::map<std::string, base::NpyArray>& arrays,
                         const std::string& name, const std::string& source) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) {
    base::fail(ErrorCode::kBadModel,
               "{}: the PLDA array '{}' is missing; give the folder with plda.npz and "
               "xvec_transform.npz",
               source, name);
  }
  if (found->second.shape != plda_shapes().at(name)) {
    base::fail(ErrorCode::kBadModel,
               "{}: the PLDA array '{}' has the wrong shape; use the "
               "published files",
               source, name);
  }
  std::vector<double> values = found->second.as<double>(source + ": " + name);
  for (const double value : values) {
    if (!std::isfinite(value)) {
      base::fail(ErrorCode::kBadModel,
                 "{}: the PLDA array '{}' holds a value that is no number; "
                 "use the published files",
                 source, name);
    }
  }
  return values;
}

}  // namespace

const std::map<std::string, base::Shape>& plda_shapes() {
  static const std::map<std::string, base::Shape> kShapes = {
      {"mean1", {256}}, {"lda", {256, 128}}, {"mean2", {128}},
      {"mu", {128}},    {"tr", {128, 128}},  {"psi", {128}}};
  return kShapes;
}

std::map<std::string, base::NpyArray> read_plda_file(std::span<const std::byte> bytes,
                                                     const std::string& file_name,
                                                     const std::string& source) {
  const std::filesystem::path name(file_name);
  std::map<std::string, base::NpyArray> all;
  if (name.extension() == ".npz") {
    all = base::parse_npz(bytes, source);
  } else {
    std::string stem = name.stem().string();
    if (stem.starts_with("plda_")) stem.erase(0, 5);
    if (plda_shapes().contains(stem)) all.emplace(stem, base::parse_npy(bytes, source));
  }
  std::erase_if(all, [](const auto& item) { return !plda_shapes().contains(item.first); });
  return all;
}

PldaArrays assemble_plda(const std::map<std::string, base::NpyArray>& arrays,
                         const std::string& source) {
  PldaArrays plda;
  plda.mean1 = take(arrays, "mean1", source);
  plda.lda = take(arrays, "lda", source);
  plda.mean2 = take(arrays, "mean2", source);
  plda.mu = take(arrays, "mu", source);
  plda.tr = take(arrays, "tr", source);
  plda.psi = take(arrays, "psi", source);
  return plda;
}

}  // namespace diarist::model
