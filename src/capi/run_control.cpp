#include "capi/run_control.hpp"

#include <memory>
#include <string>

#include "capi/guard.hpp"

namespace diarist::capi {

std::stop_token token_of(diarist_stop* stop) {
  return stop == nullptr ? std::stop_token() : Stops::get(stop)->get_token();
}

RunControl control_of(const diarist_run_options& options) {
  RunControl control;
  control.stop = token_of(options.stop);
  if (options.progress != nullptr)
    control.progress = [callback = options.progress, user = options.user](const Progress& now) {
      const std::string stage(now.stage);
      const diarist_progress progress = {.struct_size = sizeof(diarist_progress),
                                         .stage = stage.c_str(),
                                         .done_seconds = now.done_seconds,
                                         .total_seconds = now.total_seconds};
      if (call_back("progress", [&] { return callback(&progress, user); }) != 0)
        throw Error(ErrorCode::kCancelled, "stopped by the progress callback");
    };
  if (options.log != nullptr)
    control.log = [callback = options.log, user = options.user](LogLevel level,
                                                                std::string_view text) {
      const std::string line(text);
      call_back("log",
                [&] { callback(static_cast<diarist_log_level>(level), line.c_str(), user); });
    };
  return control;
}

}  // namespace diarist::capi

using diarist::capi::guarded;
using diarist::capi::not_null;
using diarist::capi::Stops;

extern "C" {

diarist_status diarist_stop_create(diarist_stop** stop) {
  return guarded([&] {
    not_null(stop, "stop") = nullptr;
    *stop = Stops::add(std::make_shared<std::stop_source>());
  });
}

diarist_status diarist_stop_request(diarist_stop* stop) {
  return guarded([&] { Stops::get(stop)->request_stop(); });
}

diarist_status diarist_stop_destroy(diarist_stop* stop) {
  return guarded([&] { Stops::drop(stop); });
}

}  // extern "C"
