#include "bench_run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "output_files.hpp"
#include "text_table.hpp"

namespace diarist::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUntold = std::numeric_limits<double>::quiet_NaN();

// One figure of a pass, kUntold where a device doesn't tell or the figure has no meaning.
struct Column {
  const char* key;      // in JSON
  const char* heading;  // in the table
  int digits;
  double (*value)(const RunPass&);
};

template <typename Entry, typename Value>
double sum(const std::vector<Entry>& entries, Value value) {
  double total = 0;
  for (const Entry& entry : entries) total += value(entry);
  return total;
}

double told(double value) { return value > 0 ? value : kUntold; }

double busy(const RunPass& pass) {
  return sum(pass.report.devices, [](const DeviceReport& device) { return device.busy; });
}

double wall(const RunPass& pass) {
  return sum(pass.report.devices, [](const DeviceReport& device) { return device.wall; });
}

double joules(const RunPass& pass) {
  return sum(pass.loads, [](const DeviceLoad& load) { return load.joules; });
}

double x_real_time(const RunPass& pass) {
  return pass.report.seconds > 0 ? pass.report.audio_seconds / pass.report.seconds : 0;
}

double clock(const RunPass& pass) {
  if (pass.loads.empty()) return 0;
  return sum(pass.loads, [](const DeviceLoad& load) { return load.clock_mhz; }) /
         static_cast<double>(pass.loads.size());
}

double lowest_clock(const RunPass& pass) {
  double lowest = 0;
  for (const DeviceLoad& load : pass.loads)
    lowest = lowest > 0 ? std::min(lowest, load.lowest_clock_mhz) : load.lowest_clock_mhz;
  return lowest;
}

double memory(const RunPass& pass) {
  double most = 0;
  for (const DeviceReport& device : pass.report.devices)
    most = std::max(most, static_cast<double>(device.memory_bytes));
  return most;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = {
      {"seconds", "wall s", 3, [](const RunPass& pass) { return pass.report.seconds; }},
      {"x_real_time", "x real time", 1, x_real_time},
      {"processor_seconds", "CPU s", 3, [](const RunPass& pass) { return pass.processor_seconds; }},
      {"decode", "decode", 3, [](const RunPass& pass) { return pass.report.stages.decode; }},
      {"upload", "upload", 3, [](const RunPass& pass) { return pass.report.stages.upload; }},
      {"features", "features", 3, [](const RunPass& pass) { return pass.report.stages.features; }},
      {"segmentation", "segment.", 3,
       [](const RunPass& pass) { return pass.report.stages.segmentation; }},
      {"embedding", "embedding", 3,
       [](const RunPass& pass) { return pass.report.stages.embedding; }},
      {"clustering", "cluster.", 3,
       [](const RunPass& pass) { return pass.report.stages.clustering; }},
      {"output", "output", 3, [](const RunPass& pass) { return pass.report.stages.output; }},
      {"device_busy", "busy s", 3,
       [](const RunPass& pass) { return wall(pass) > 0 ? busy(pass) : kUntold; }},
      {"device_wall", "of s", 3, [](const RunPass& pass) { return told(wall(pass)); }},
      {"device_idle_percent", "idle %", 1,
       [](const RunPass& pass) {
         return wall(pass) > 0 ? 100 * std::max(0.0, 1 - busy(pass) / wall(pass)) : kUntold;
       }},
      {"device_megabytes", "MB", 0, [](const RunPass& pass) { return told(memory(pass)) / 1e6; }},
      {"clock_mhz", "MHz", 0, [](const RunPass& pass) { return told(clock(pass)); }},
      {"lowest_clock_mhz", "lowest", 0,
       [](const RunPass& pass) { return told(lowest_clock(pass)); }},
      {"power_watts", "W", 0,
       [](const RunPass& pass) {
         return told(sum(pass.loads, [](const DeviceLoad& load) { return load.power_watts; }));
       }},
      {"joules_per_hour", "J/h", 1,
       [](const RunPass& pass) {
         const double hours = pass.report.audio_seconds / 3600;
         return hours > 0 ? told(joules(pass)) / hours : kUntold;
       }},
  };
  return kColumns;
}

double median(const RunBenchReport& report, const Column& column) {
  std::vector<double> values;
  for (const RunPass& pass : report.passes)
    if (const double value = column.value(pass); !std::isnan(value)) values.push_back(value);
  if (values.empty()) return kUntold;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double best(const RunBenchReport& report) {
  double most = 0;
  for (const RunPass& pass : report.passes) most = std::max(most, x_real_time(pass));
  return most;
}

double audio_seconds(const RunBenchReport& report) {
  return report.passes.empty() ? 0 : report.passes.front().report.audio_seconds;
}

// Columns of the table: a processor tells nothing of clock and power, so they are not shown.
std::vector<const Column*> told_columns(const RunBenchReport& report) {
  std::vector<const Column*> told;
  for (const Column& column : columns())
    if (!std::isnan(median(report, column))) told.push_back(&column);
  return told;
}

std::vector<std::string> row(const std::string& name, const std::vector<const Column*>& shown,
                             const std::function<double(const Column&)>& value) {
  std::vector<std::string> cells = {name};
  for (const Column* shown_column : shown) {
    const Column& column = *shown_column;
    const double number = value(column);
    cells.push_back(std::isnan(number) ? "-" : fmt::format("{:.{}f}", number, column.digits));
  }
  return cells;
}

}  // namespace

std::string table_text(const RunBenchReport& report) {
  const EffectiveSettings& settings = report.settings;
  std::string text = fmt::format(
      "Recordings to turns on {} ({}): {}, {}, step {} s, {} threads\n"
      "{} recordings, {:.0f} s of audio; ready after {:.3f} s; {} pass(es) to warm up; at most "
      "{:.0f} "
      "MB of memory\n",
      settings.device, settings.kernels, settings.preset, settings.precision, settings.step_seconds,
      settings.threads, report.files, audio_seconds(report), report.load_seconds, report.warm_up,
      report.peak_bytes / 1e6);
  if (!report.replay.empty())
    text += fmt::format("Clustered: stages of {}, repeated and moved by 2 %\n",
                        one_line(report.replay));
  const std::vector<const Column*> shown = told_columns(report);
  text +=
      "CPU s: of all threads. Stages: seconds of one pass, summed over the recordings; they "
      "overlap "
      "on a GPU.";
  if (std::ranges::any_of(report.passes, [](const RunPass& pass) { return memory(pass) > 0; }))
    text += " MB: held on the device.";
  text += "\n\n";
  std::vector<std::vector<std::string>> rows = {{"pass"}};
  for (const Column* column : shown) rows.front().emplace_back(column->heading);
  for (std::size_t i = 0; i < report.passes.size(); ++i)
    rows.push_back(row(std::to_string(i + 1), shown,
                       [&](const Column& column) { return column.value(report.passes[i]); }));
  rows.push_back(
      row("median", shown, [&](const Column& column) { return median(report, column); }));
  text += aligned(rows, 1);
  text += fmt::format("\nmedian {:.1f} x real time, best {:.1f}; {} turns, {} speakers\n",
                      median(report, columns()[1]), best(report), report.passes.back().turns,
                      report.passes.back().speakers);
  return text;
}

std::string json_text(const RunBenchReport& report) {
  const EffectiveSettings& settings = report.settings;
  Json json = {{"device", settings.device},
               {"kernels", settings.kernels},
               {"preset", settings.preset},
               {"precision", settings.precision},
               {"step_seconds", settings.step_seconds},
               {"threads", settings.threads},
               {"files", report.files},
               {"audio_seconds", audio_seconds(report)},
               {"load_seconds", report.load_seconds},
               {"peak_bytes", report.peak_bytes},
               {"warm_up", report.warm_up}};
  json["replay"] = report.replay.empty() ? Json(nullptr) : Json(report.replay);
  const auto figure = [](double value) { return std::isnan(value) ? Json(nullptr) : Json(value); };
  json["passes"] = Json::array();
  for (const RunPass& pass : report.passes) {
    Json entry;
    for (const Column& column : columns()) entry[column.key] = figure(column.value(pass));
    entry["turns"] = pass.turns;
    entry["speakers"] = pass.speakers;
    json["passes"].push_back(std::move(entry));
  }
  for (const Column& column : columns())
    json["median"][column.key] = figure(median(report, column));
  json["best_x_real_time"] = best(report);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace diarist::cli
