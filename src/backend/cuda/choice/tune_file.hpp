#pragma once
// The tune file: choices measured on one device, as JSON. It is valid for exactly the device,
// driver and kernel set it was measured with, and refused as a whole otherwise.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/choice/choice.hpp"

namespace diarist::backend::cuda {

/// What a tune file must have been measured with.
struct TuneIdentity {
  std::string device;  // name as the driver gives it
  int architecture = 0;
  int multiprocessors = 0;
  std::string driver;      // version, e.g. "580.82.07"
  std::string kernel_set;  // kernel_set_hash()

  bool operator==(const TuneIdentity&) const = default;
};

struct TuneFile {
  TuneIdentity identity;
  std::vector<TuneEntry> entries;
};

/// SHA-256 over the sources of the kernels in this build, 64 hexadecimal digits.
const char* kernel_set_hash() noexcept;

/// \param source names the file in errors. \throws Error kBadFile when it is damaged: bad JSON,
/// another format or version, missing or mistyped members, numbers out of bounds, an entry twice,
/// or two kernels for one shape and mode (results would depend on the batch).
TuneFile parse_tune_file(std::string_view text, const std::string& source);

/// \throws Error kInvalidArgument with the first thing that does not match: the identity, or a
/// kernel or variant that this device does not have for the shape.
void check_tune_file(const TuneFile& file, const TuneIdentity& identity, const DeviceFacts& device,
                     const std::string& source);

/// Reads, parses and checks. \throws Error kNotFound, kBadFile, kInvalidArgument.
TuneFile load_tune_file(const std::filesystem::path& file, const TuneIdentity& identity,
                        const DeviceFacts& device);

/// Same input, same bytes: entries are sorted.
std::string to_json_text(const TuneFile& file);

/// Atomic. \throws Error kBadFile.
void write_tune_file(const TuneFile& file, const std::filesystem::path& target);

/// "64 to 64 channels, 3x3, ...: conv_walk, fast, batch 128, 0.2650 ms".
std::string entry_text(const TuneEntry& entry);

}  // namespace diarist::backend::cuda
