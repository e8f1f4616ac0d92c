#pragma once
// Where results go, and in which formats.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/formats.hpp"

namespace diarist::cli {

/// Formats of "rttm,json": names or other names. \throws CLI::ValidationError for an unknown one.
std::vector<Format> formats_of(const std::string& names);

/// An option that takes such a list into `formats`. `readable`: only formats with a reader.
CLI::Option* add_format_option(CLI::App& command, const std::string& name,
                               std::vector<Format>& formats, const std::string& what,
                               bool readable = false);

struct OutputPlace {
  /// Empty or "-": standard output. A name with the ending of a format that is no folder: that
  /// file. Anything else: a folder with a file per recording and format.
  std::string out;
  std::vector<Format> formats;  ///< empty: that of the file's ending, else RTTM
  /// Any name is a file's but that of a folder which is there or ends with a slash.
  bool file_unless_folder = false;
};

/// Takes the results of one call. Everything that can be refused is refused before the work.
class ResultSink {
 public:
  /// \param ids one per recording.
  /// \throws Error kInvalidArgument: what is asked for does not fit together; kBadFile: the place
  /// can't be written.
  ResultSink(std::vector<std::string> ids, const OutputPlace& place);

  /// Files that write() and finish() make of a recording; none: standard output.
  std::vector<std::filesystem::path> targets(std::size_t i) const;

  /// That file takes the results of all recordings.
  bool collects_in(const std::filesystem::path& file) const {
    return kind_ == Kind::kFile && file == out_;
  }

  /// \return false when standard output is gone. \throws Error kBadFile.
  bool write(std::size_t i, const Diarization& result);

  /// Writes a file that holds several recordings; nothing is left to do otherwise, or when no
  /// result came. \throws Error kBadFile.
  void finish();

 private:
  enum class Kind { kStandardOutput, kFile, kFolder };

  void refuse_what_does_not_fit() const;
  std::filesystem::path file_of(std::size_t i, Format format) const;

  std::vector<std::string> ids_;
  std::filesystem::path out_;
  Kind kind_ = Kind::kStandardOutput;
  std::vector<Format> formats_;
  bool first_ = true;
  std::string collected_;
};

/// File names can't hold a slash; anything else an id may contain is kept.
std::string file_name(std::string id);

}  // namespace diarist::cli
