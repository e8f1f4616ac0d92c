#include "bench_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text_table.hpp"

namespace diarist::cli {
namespace {

// A column of whole error messages would push the figures off the screen; JSON has them whole.
std::string shortened(const std::string& text) {
  constexpr std::size_t kWidth = 48;
  return text.size() <= kWidth ? text : text.substr(0, kWidth - 3) + "...";
}

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr double kMega = 1e6;

// A dash where a device tells nothing.
std::string number(double value, int digits) {
  return value > 0 ? fmt::format("{:.{}f}", value, digits) : "-";
}

std::string megabytes(std::size_t bytes) {
  return bytes > 0 ? fmt::format("{:.1f}", static_cast<double>(bytes) / kMega) : "-";
}

std::string times(const TimeSummary& summary) {
  return fmt::format("{:.3f} ({:.3f})", summary.median_ms, summary.min_ms);
}

const char* graph_text(const BenchRow& row) {
  if (!row.records) return "-";
  return row.graph ? "on" : "off";
}

Json json_of(const TimeSummary& summary) {
  return {{"median_ms", summary.median_ms}, {"min_ms", summary.min_ms}};
}

Json json_of(const DeviceState& state) {
  return {{"clock_mhz", state.clock_mhz}, {"power_watts", state.power_watts}};
}

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string table_text(const BenchReport& report) {
  std::string text = fmt::format("Speaker embedding (ResNet34) on {}: {}; weights: {}\n",
                                 report.device, report.kernels, report.weights);
  text += "Times in ms: median (least). MB: 1e6 bytes.\n\n";
  Rows rows = {{"precision", "graph", "batch", "h2d", "compute", "d2h", "chunks/s", "load s", "MHz",
                "W", "device MB", "buffers MB", "workspace MB", "plans", "worst cosine"}};
  for (const BenchRow& row : report.rows)
    rows.push_back({precision_name(row.precision), graph_text(row), fmt::format("{}", row.batch),
                    times(row.h2d), times(row.compute), times(row.d2h),
                    fmt::format("{:.1f}", row.chunks_per_second),
                    fmt::format("{:.1f}", row.seconds), number(row.state.clock_mhz, 0),
                    number(row.state.power_watts, 0), megabytes(row.device_bytes),
                    megabytes(row.buffer_bytes), megabytes(row.workspace_bytes),
                    fmt::format("{}", row.plans),
                    row.checked ? fmt::format("{:.8f}", row.worst_cosine) : "-"});
  return text + aligned(rows, 2);
}

std::string table_text(const std::vector<ProfileReport>& reports) {
  std::string text;
  for (const ProfileReport& report : reports) {
    text += fmt::format(
        "{}{}, batch {}, {} mode; clock {} MHz, {} W; floors for {} TFLOP/s and {} "
        "GB/s\n\n",
        text.empty() ? "" : "\n", report.device, report.batch, precision_name(report.precision),
        number(report.state.clock_mhz, 0), number(report.state.power_watts, 0),
        number(report.flops_peak / 1e12, 0), number(report.bytes_peak / 1e9, 0));
    Rows rows = {
        {"layers", "kernel", "ms", "share", "TFLOP/s", "GB/s", "floor ms", "x floor", "bound by"}};
    const double total = report.total_ms();
    for (const LayerProfile& row : report.rows)
      rows.push_back({row.layers, row.kernel, fmt::format("{:.4f}", row.milliseconds),
                      fmt::format("{:.1f} %", 100 * row.share(total)),
                      fmt::format("{:.1f}", row.teraflops()),
                      fmt::format("{:.0f}", row.gigabytes_per_second()), number(row.floor_ms, 4),
                      number(row.times_floor(), 2),
                      row.floor_ms > 0 ? (row.memory_bound ? "memory" : "arithmetic") : "-"});
    const double floor = report.floor_ms();
    rows.push_back({"all", "", fmt::format("{:.4f}", total), "100.0 %", "", "", number(floor, 4),
                    number(floor > 0 ? total / floor : 0, 2), ""});
    text += aligned(rows, 2);
  }
  return text;
}

std::string table_text(const std::vector<AlgorithmRow>& algorithms) {
  Rows rows = {{"shape", "candidate", "", "ms", "workspace MB"}};
  for (const AlgorithmRow& row : algorithms)
    rows.push_back({row.shape, row.kernel,
                    row.problem.empty() ? (row.chosen ? "chosen" : "") : shortened(row.problem),
                    row.problem.empty() ? fmt::format("{:.4f}", row.milliseconds) : "-",
                    megabytes(row.workspace_bytes)});
  return aligned(rows, 3);
}

std::string table_text(const std::vector<FusionRow>& fusion) {
  Rows rows = {{"shape", "fused ms", "plain ms", "saved"}};
  for (const FusionRow& row : fusion)
    rows.push_back(
        {row.shape, fmt::format("{:.4f}", row.fused_ms), fmt::format("{:.4f}", row.plain_ms),
         row.plain_ms > 0 ? fmt::format("{:.1f} %", 100 * (1 - row.fused_ms / row.plain_ms))
                          : "-"});
  return aligned(rows, 1);
}

std::string json_text(const BenchReport& report) {
  Json json = {{"device", report.device},
               {"kernels", report.kernels},
               {"weights", report.weights},
               {"rows", Json::array()}};
  for (const BenchRow& row : report.rows) {
    Json entry = {{"precision", precision_name(row.precision)}, {"batch", row.batch}};
    entry["graph"] = row.records ? Json(row.graph) : Json(nullptr);
    entry["h2d"] = json_of(row.h2d);
    entry["compute"] = json_of(row.compute);
    entry["d2h"] = json_of(row.d2h);
    entry["chunks_per_second"] = row.chunks_per_second;
    entry["seconds"] = row.seconds;
    entry["state"] = json_of(row.state);
    entry["device_bytes"] = row.device_bytes;
    entry["buffer_bytes"] = row.buffer_bytes;
    entry["workspace_bytes"] = row.workspace_bytes;
    entry["plans"] = row.plans;
    entry["worst_cosine"] = row.checked ? Json(row.worst_cosine) : Json(nullptr);
    json["rows"].push_back(std::move(entry));
  }
  return dump(json);
}

std::string json_text(const std::vector<ProfileReport>& reports) {
  Json json = Json::array();
  for (const ProfileReport& report : reports) {
    Json entry = {{"device", report.device},
                  {"batch", report.batch},
                  {"precision", precision_name(report.precision)},
                  {"state", json_of(report.state)},
                  {"flops_peak", report.flops_peak},
                  {"bytes_peak", report.bytes_peak},
                  {"total_ms", report.total_ms()},
                  {"floor_ms", report.floor_ms()},
                  {"launches", Json::array()}};
    for (const LayerProfile& row : report.rows)
      entry["launches"].push_back({{"layers", row.layers},
                                   {"kernel", row.kernel},
                                   {"ms", row.milliseconds},
                                   {"flops", row.flops},
                                   {"bytes", row.bytes},
                                   {"floor_ms", row.floor_ms},
                                   {"memory_bound", row.memory_bound}});
    json.push_back(std::move(entry));
  }
  return dump(json);
}

std::string json_text(const std::vector<AlgorithmRow>& rows) {
  Json json = Json::array();
  for (const AlgorithmRow& row : rows)
    json.push_back({{"shape", row.shape},
                    {"kernel", row.kernel},
                    {"ms", row.problem.empty() ? Json(row.milliseconds) : Json(nullptr)},
                    {"workspace_bytes", row.workspace_bytes},
                    {"chosen", row.chosen},
                    {"problem", row.problem}});
  return dump(json);
}

std::string json_text(const std::vector<FusionRow>& rows) {
  Json json = Json::array();
  for (const FusionRow& row : rows)
    json.push_back({{"shape", row.shape}, {"fused_ms", row.fused_ms}, {"plain_ms", row.plain_ms}});
  return dump(json);
}

}  // namespace diarist::cli
