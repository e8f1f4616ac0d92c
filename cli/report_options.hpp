#pragma once
// Options that ask for a page or a plot beside the result, shared by `run` and `report`.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "diarist/report.hpp"
#include "diarist/result.hpp"
#include "diarist/run_control.hpp"

namespace diarist::cli {

struct ReportOutputs {
  std::string page;  // --report or --out: a file, a folder when there are several recordings
  std::string plot;  // --plot: likewise
  std::string title;
  bool embed_audio = false;
  double embed_limit = 64;  // MB

  bool any() const { return !page.empty() || !plot.empty(); }
};

/// --plot, --embed-audio, --embed-limit, and the page's own option under the name given.
void add_report_options(CLI::App& command, ReportOutputs& outputs, const std::string& page_option);

/// Looks at endings and folders before the work begins; makes the folders of several recordings.
/// \throws Error kInvalidArgument, kBadFile.
void check_report_outputs(const ReportOutputs& outputs, bool several);

/// Files that write_reports() makes of a recording.
std::vector<std::filesystem::path> report_files(const ReportOutputs& outputs, const std::string& id,
                                                bool several);

/// Writes what was asked for. `audio` is the recording's file, empty or "-" for none.
/// \throws Error kInvalidArgument, kBadFile.
void write_reports(const ReportOutputs& outputs, const std::string& audio, bool several,
                   const Diarization& result, const RunControl& control = {});

}  // namespace diarist::cli
