#include "run_results.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <utility>

#include "diarist/stages.hpp"
#include "output_files.hpp"
#include "shaping_options.hpp"
#include "work_done.hpp"

namespace diarist::cli {

void add_result_options(CLI::App& command, ResultOptions& options) {
  command.add_option("--out", options.place.out,
                     "folder for one file per recording and format, or a file whose ending tells "
                     "the format; - is standard output");
  add_format_option(command, "--format", options.place.formats,
                    "rttm (default), or several with commas between");
  add_voice_options(command, options.voices);
  add_shaping_options(command, options.shaping);
  add_report_options(command, options.reports, "--report");
  command.add_option("--save-stages", options.save_stages,
                     "folder for segmentations.npy, embeddings.npy, hard_clusters.npy, counts.npy");
}

Results::Results(const std::vector<std::string>& inputs, const ResultOptions& options)
    : inputs_(inputs), options_(options), ids_(unique_ids(inputs)), sink_(ids_, options.place) {
  check_report_outputs(options.reports, inputs.size() > 1);
  // A file that takes all recordings counts once.
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const std::filesystem::path& file : targets(i))
      if (i == 0 || !sink_.collects_in(file)) files.push_back(file);
  refuse_shared_files(inputs, files);
  shaped({}, options.shaping);  // throws for a wrong number before there is a result
}

bool Results::write(std::size_t i, Diarization result) {
  const std::string& id = ids_[i];
  result.uri = id;
  if (!options_.save_stages.empty()) {
    const std::lock_guard whole(output_mutex());
    save_stages(*result.stages, stages_folder(i));
  }
  result = named(std::move(result), options_.voices, inputs_[i]);
  const std::size_t told = result.warnings.size();
  result = shaped(std::move(result), options_.shaping);
  for (std::size_t k = told; k < result.warnings.size(); ++k) {
    warn(result.warnings[k], inputs_[i]);
  }
  write_reports(options_.reports, inputs_[i], inputs_.size() > 1, result);
  return sink_.write(i, result);
}

std::filesystem::path Results::stages_folder(std::size_t i) const {
  const std::filesystem::path folder(options_.save_stages);
  return inputs_.size() > 1 ? folder / file_name(ids_[i]) : folder;
}

std::vector<std::filesystem::path> Results::targets(std::size_t i) const {
  std::vector<std::filesystem::path> files = sink_.targets(i);
  for (const std::filesystem::path& file :
       report_files(options_.reports, ids_[i], inputs_.size() > 1))
    files.push_back(file);
  if (!options_.save_stages.empty())
    for (const char* name : {"segmentations", "embeddings", "hard_clusters", "counts"})
      files.push_back(stages_folder(i) / fmt::format("{}.npy", name));
  return files;
}

void Results::refuse(std::size_t i, const Error& error) {
  const std::string& input = inputs_[i];
  if (error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kCancelled)
    throw error;
  const std::string what = error.what();
  const bool named = input == "-" || one_line(what).starts_with(one_line(input) + ":");
  complain(named ? what : fmt::format("{}: {}", input, what));
  ++failed_;
}

}  // namespace diarist::cli
