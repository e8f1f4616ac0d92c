#include "diarist/stages.hpp"

#include <cmath>
#include <map>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/npy.hpp"

namespace diarist {
namespace {

constexpr std::int64_t kFrames = 589;
constexpr std::int64_t kSpeakers = 3;

base::NpyArray read_array(const std::filesystem::path& file, const std::string& name) {
  const base::MappedFile mapped(file);
  const std::span<const std::byte> bytes = mapped.bytes();
  if (bytes.size() < 2 || bytes[0] != std::byte{'P'} || bytes[1] != std::byte{'K'})
    return base::parse_npy(bytes, file.string());
  std::map<std::string, base::NpyArray> arrays = base::parse_npz(bytes, file.string());
  const auto it = arrays.find(name);
  if (it == arrays.end())
    base::fail(ErrorCode::kBadFile, "{}: has no array \"{}\"", file.string(), name);
  return std::move(it->second);
}

template <typename T>
void save(const std::filesystem::path& file, const base::Shape& shape,
          const std::vector<T>& values) {
  base::write_atomic(file, base::to_npy<T>(shape, values));
}

std::vector<std::uint8_t> pack_activity(const std::vector<float>& cells, const std::string& file) {
  std::vector<std::uint8_t> activity(cells.size() / kSpeakers);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != 0.0F && cells[i] != 1.0F)
      base::fail(ErrorCode::kBadFile,
                 "{}: cell {} is {}; segmentations must be hard, 0 or 1 in every cell", file, i,
                 cells[i]);
    if (cells[i] != 0.0F)
      activity[i / kSpeakers] =
          static_cast<std::uint8_t>(activity[i / kSpeakers] | (1U << (i % kSpeakers)));
  }
  return activity;
}

}  // namespace

void save_stages(const StageResults& stages, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    base::fail(ErrorCode::kBadFile, "{}: can't make this folder: {}", folder.string(),
               error.message());
  std::vector<std::uint8_t> cells(stages.activity.size() * kSpeakers);
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = static_cast<std::uint8_t>((stages.activity[i / kSpeakers] >> (i % kSpeakers)) & 1U);
  save<std::uint8_t>(folder / "segmentations.npy", {stages.chunks, kFrames, kSpeakers}, cells);
  save<float>(folder / "embeddings.npy", {stages.chunks, kSpeakers, stages.embedding_dim},
              stages.embeddings);
  save<std::int32_t>(folder / "hard_clusters.npy", {stages.chunks, kSpeakers},
                     stages.hard_clusters);
  save<std::uint8_t>(folder / "counts.npy", {static_cast<std::int64_t>(stages.counts.size())},
                     stages.counts);
}

StageResults load_stages(const std::filesystem::path& segmentations,
                         const std::filesystem::path& embeddings) {
  const base::NpyArray cells = read_array(segmentations, "segmentations");
  const base::NpyArray vectors = read_array(embeddings, "embeddings");
  if (cells.shape.size() != 3 || cells.shape[0] < 1 || cells.shape[1] != kFrames ||
      cells.shape[2] != kSpeakers)
    base::fail(ErrorCode::kBadFile, "{}: segmentations must have the shape [C, 589, 3], C >= 1",
               segmentations.string());
  if (vectors.shape.size() != 3 || vectors.shape[0] != cells.shape[0] ||
      vectors.shape[1] != kSpeakers || vectors.shape[2] < 1)
    base::fail(ErrorCode::kBadFile, "{}: embeddings must have the shape [{}, 3, D]",
               embeddings.string(), cells.shape[0]);
  StageResults stages;
  stages.chunks = static_cast<int>(cells.shape[0]);
  stages.embedding_dim = static_cast<int>(vectors.shape[2]);
  stages.activity = pack_activity(cells.as<float>(segmentations.string()), segmentations.string());
  stages.embeddings = vectors.as<float>(embeddings.string());
  return stages;
}

void save_embeddings(std::span<const float> embeddings, int dim,
                     const std::filesystem::path& file) {
  if (dim < 1) base::fail(ErrorCode::kInvalidArgument, "embeddings of {} numbers", dim);
  const std::int64_t rows = static_cast<std::int64_t>(embeddings.size()) / dim;
  base::write_atomic(file, base::to_npy<float>({rows, dim}, embeddings));
}

}  // namespace diarist
