#include "json_progress.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace diarist::cli {

void emit_event(std::string_view name, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json event = {{"event", name}};
  event.update(fields);
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace diarist::cli
