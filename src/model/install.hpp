#pragma once
// Atomic replacement of a bundle's folder.

#include <filesystem>
#include <functional>
#include <string>

namespace diarist::model {

/// Exclusive right to install into one models folder, across processes and threads. Waits for it.
class InstallLock {
 public:
  /// Creates the folder when it is missing. \throws Error kBadFile.
  explicit InstallLock(const std::filesystem::path& models);
  ~InstallLock();
  InstallLock(const InstallLock&) = delete;
  InstallLock& operator=(const InstallLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Lets `fill` write a new version of models/<name> into an empty folder beside it, flushes it and
/// puts it in place; the old version disappears only then. When `fill` throws, or the process dies,
/// the old version stays. Remains of earlier interrupted installs are removed.
void install_folder(const std::filesystem::path& models, const std::string& name,
                    const InstallLock& lock,
                    const std::function<void(const std::filesystem::path& folder)>& fill);

}  // namespace diarist::model
