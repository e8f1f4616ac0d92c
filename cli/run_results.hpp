#pragma once
// The results of `diarist run`: named, shaped, written; what failed is told.

#include <filesystem>
#include <string>
#include <vector>

#include "diarist/error.hpp"
#include "diarist/result.hpp"
#include "report_options.hpp"
#include "result_sink.hpp"
#include "voice_options.hpp"

namespace diarist::cli {

struct ResultOptions {
  OutputPlace place;
  VoiceArguments voices;
  TurnShaping shaping;
  ReportOutputs reports;
  std::string save_stages;  ///< folder for the stages' arrays; empty: none
};

/// --out, --format, the options of voices and shaping, --report, --plot and --save-stages.
void add_result_options(CLI::App& command, ResultOptions& options);

/// Where the results of a call go.
class Results {
 public:
  /// Refuses what can't be written or shaped, before the work. Both arguments must outlive this.
  /// \throws Error kInvalidArgument, kBadFile.
  Results(const std::vector<std::string>& inputs, const ResultOptions& options);

  /// \return false when standard output is gone. \throws Error kBadFile.
  bool write(std::size_t i, Diarization result);

  /// Files that write() would make; none: standard output.
  std::vector<std::filesystem::path> targets(std::size_t i) const;

  /// To be called after the last result. \throws Error kBadFile.
  void finish() { sink_.finish(); }

  /// Complains about a recording. Stopping and wrong options concern the whole call and are thrown.
  void refuse(std::size_t i, const Error& error);

  int failed() const noexcept { return failed_; }

 private:
  std::filesystem::path stages_folder(std::size_t i) const;

  const std::vector<std::string>& inputs_;
  const ResultOptions& options_;
  std::vector<std::string> ids_;
  ResultSink sink_;
  int failed_ = 0;
};

}  // namespace diarist::cli
