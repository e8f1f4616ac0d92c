#pragma once
// Where the files of community-1 lie on a model hub, and which of them are wanted.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/models.hpp"

namespace diarist::pipeline {

struct HubFile {
  std::string path;  // inside the repository
  std::uint64_t size = 0;
  std::string sha256;  // as the hub lists it for large files; empty: not listed
};

/// Files worth fetching, best first. Names are hints only: what was fetched is judged by content.
struct HubChoice {
  std::vector<HubFile> segmentation;
  std::vector<HubFile> embedding;
  std::vector<HubFile> plda;  // all of them are needed; empty when the set is not complete
};

/// The hub's JSON answer to /api/models/<repository>/tree/main?recursive=1.
/// \throws Error kBadFile naming `source`.
std::vector<HubFile> parse_hub_tree(std::string_view json, const std::string& source);

HubChoice choose_hub_files(const std::vector<HubFile>& files);

/// Fetches community-1 from the hub and imports it. Tries the original first when a token is in the
/// environment (HF_TOKEN, DIARIST_HUB_TOKEN), then the mirrors. \throws Error naming every failure.
BundleReport pull_from_hub(const std::filesystem::path& models, const FetchOptions& options,
                           const RunControl& control);

}  // namespace diarist::pipeline
