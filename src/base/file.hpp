#pragma once
// Files: mapped reading, whole reads, atomic writes.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::base {

/// A read-only mapping of a regular file; an empty file maps to an empty span.
/// \throws Error kNotFound (missing), kBadFile (folder, no permission, can't be mapped).
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Whole text file. \throws like MappedFile.
std::string read_text(const std::filesystem::path& file);

/// Writes to a temporary file beside the target, flushes, renames: readers see the old content or
/// the new, never a part. \throws Error kBadFile with the reason (disk full, no permission).
/// \param mode permissions of a file that was not there, less the umask; one that was keeps its
/// own.
void write_atomic(const std::filesystem::path& file, std::span<const std::byte> bytes,
                  unsigned mode = 0666);
void write_atomic(const std::filesystem::path& file, std::string_view text, unsigned mode = 0666);

}  // namespace diarist::base
