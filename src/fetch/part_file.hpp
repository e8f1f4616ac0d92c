#pragma once
// The unfinished file of a download: TARGET.part, and TARGET.part.tag with the server's entity tag.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace diarist::fetch {

/// Owned by one download at a time. A part that lies there already is continued.
class PartFile {
 public:
  /// Makes missing folders. \throws Error kBadFile.
  explicit PartFile(const std::filesystem::path& target);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }

  /// Entity tag of the version that the part belongs to; empty when unknown.
  const std::string& tag() const noexcept { return tag_; }
  void set_tag(const std::string& tag);

  /// False when the disk refuses (the reason is in errno).
  bool append(std::span<const char> bytes);

  void restart();  ///< empties the part
  void discard();  ///< removes it
  /// Flushes and renames to the target. \throws Error kBadFile.
  void publish(const std::filesystem::path& target);

 private:
  void open();

  std::filesystem::path path_;
  std::filesystem::path tag_path_;
  std::string tag_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace diarist::fetch
