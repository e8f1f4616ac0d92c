#include "diarist/diarizer.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/engines.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "capi/result.hpp"
#include "capi/run_control.hpp"

namespace diarist::capi {
namespace {

std::vector<std::filesystem::path> paths_of(const char* const* paths, std::size_t count) {
  if (count > 0) not_null(paths, "paths");
  std::vector<std::filesystem::path> list;
  for (std::size_t i = 0; i < count; ++i)
    list.emplace_back(&not_null(paths[i], "paths[" + std::to_string(i) + "]"));
  return list;
}

void run_files(const Diarizer& diarizer, const std::vector<std::filesystem::path>& files,
               const diarist_run_options& options, diarist_file_callback done) {
  const auto hand_over = [&](FileOutcome outcome) {
    diarist_result* const result =
        outcome.result ? new_result(*std::move(outcome.result)) : nullptr;
    const auto status =
        outcome.error ? static_cast<diarist_status>(outcome.error->code()) : DIARIST_OK;
    return call_back("file", [&] {
             return done(outcome.index, result, status, outcome.error ? outcome.error->what() : "",
                         options.user);
           }) == 0;
  };
  diarizer.run_files(files, options_of(options), control_of(options), hand_over);
}

}  // namespace
}  // namespace diarist::capi

using diarist::capi::Diarizers;
using diarist::capi::guarded;
using diarist::capi::not_null;

extern "C" {

diarist_status diarist_diarizer_create(const diarist_options* options,
                                       diarist_diarizer** diarizer) {
  return guarded([&] {
    not_null(diarizer, "diarizer") = nullptr;
    *diarizer =
        Diarizers::add(std::make_shared<diarist::Diarizer>(diarist::capi::options_of(options)));
  });
}

diarist_status diarist_diarizer_destroy(diarist_diarizer* diarizer) {
  return guarded([&] { Diarizers::drop(diarizer); });
}

diarist_status diarist_diarizer_preset(diarist_diarizer* diarizer, const char** preset) {
  return guarded([&] {
    not_null(preset, "preset") = nullptr;
    *preset = Diarizers::get(diarizer)->preset().c_str();
  });
}

diarist_status diarist_diarizer_run_file(diarist_diarizer* diarizer, const char* path,
                                         const diarist_run_options* options,
                                         diarist_result** result) {
  return guarded([&] {
    not_null(result, "result") = nullptr;
    const diarist_run_options known = diarist::capi::run_options_of(options);
    *result = diarist::capi::new_result(Diarizers::get(diarizer)->run(
        std::filesystem::path(&not_null(path, "path")), diarist::capi::options_of(known),
        diarist::capi::control_of(known)));
  });
}

diarist_status diarist_diarizer_run_audio(diarist_diarizer* diarizer, const diarist_audio* audio,
                                          const diarist_run_options* options,
                                          diarist_result** result) {
  return guarded([&] {
    not_null(result, "result") = nullptr;
    const diarist_run_options known = diarist::capi::run_options_of(options);
    *result = diarist::capi::new_result(Diarizers::get(diarizer)->run(
        diarist::capi::audio_of(audio), diarist::capi::options_of(known),
        diarist::capi::control_of(known)));
  });
}

diarist_status diarist_diarizer_run_files(diarist_diarizer* diarizer, const char* const* paths,
                                          size_t count, const diarist_run_options* options,
                                          diarist_file_callback done) {
  return guarded([&] {
    if (done == nullptr) diarist::capi::refuse("done is null");
    const auto engine = Diarizers::get(diarizer);
    diarist::capi::run_files(*engine, diarist::capi::paths_of(paths, count),
                             diarist::capi::run_options_of(options), done);
  });
}

}  // extern "C"
