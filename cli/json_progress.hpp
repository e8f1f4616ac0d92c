#pragma once
// --json-progress: events for programs, one JSON object per line on standard error (docs/cli.md).

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace diarist::cli {

/// Writes {"event": NAME, ...fields} as one line, in one piece. Text that is not UTF-8 has its bad
/// bytes replaced. Any thread may call it.
void emit_event(std::string_view name, const nlohmann::ordered_json& fields);

}  // namespace diarist::cli
