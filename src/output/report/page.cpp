// Fills the page's slots, written {{name}} in report.html.

#include <fmt/format.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "diarist/report.hpp"
#include "output/report/markup.hpp"
#include "output/report/page_data.hpp"
#include "output/report/page_sources.hpp"

namespace diarist {
namespace {

std::string script() {
  std::string text = "(() => {\n'use strict';\n";
  for (const char* part : {output::kTextJs, output::kTurnsJs, output::kWaveformJs,
                           output::kTimelineJs, output::kGesturesJs, output::kPlayerJs,
                           output::kSpeakersJs, output::kListJs, output::kMainJs})
    text += part;
  return text + "})();\n";
}

// "'sha256-...'": allows exactly this inline text.
std::string allowed(std::string_view text) {
  const std::string hex = base::sha256_hex(std::as_bytes(std::span(text)));
  std::string digest;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    digest += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return fmt::format("'sha256-{}'", output::base64(digest));
}

// Nothing may be loaded but sound: of the reader's own choice, in the page or beside it.
std::string policy(std::string_view style, std::string_view code) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; media-src 'self' file: blob:; "
      "connect-src 'none'; form-action 'none'; base-uri 'none'; "
      "require-trusted-types-for 'script'",
      allowed(code), allowed(style));
}

// Each slot once, from left to right: what is filled in is never looked at again.
std::string filled(std::string_view page,
                   const std::function<std::string(std::string_view)>& value) {
  std::string text;
  for (;;) {
    const std::size_t at = page.find("{{");
    const std::size_t end = page.find("}}", at == std::string_view::npos ? page.size() : at);
    if (at == std::string_view::npos || end == std::string_view::npos) return text += page;
    text += page.substr(0, at);
    text += value(page.substr(at + 2, end - at - 2));
    page.remove_prefix(end + 2);
  }
}

}  // namespace

std::string to_html(const Diarization& result, const ReportOptions& options) {
  const std::string style = output::kReportCss;
  const std::string code = script();
  const std::string& named = options.title.empty() ? result.uri : options.title;
  const std::string title = output::markup_text(named.empty() ? "Recording" : named);
  return filled(output::kReportHtml, [&](std::string_view slot) -> std::string {
    if (slot == "policy") return policy(style, code);
    if (slot == "generator") return "diarist " DIARIST_VERSION;
    if (slot == "title") return title;
    if (slot == "style") return style;
    if (slot == "data") return output::page_data(result, options);
    if (slot == "audio") return output::base64(options.audio.bytes);
    if (slot == "script") return code;
    base::fail(ErrorCode::kInternal, "the report's page has an unknown slot '{}'", slot);
  });
}

}  // namespace diarist
