#pragma once
// The files of src/output/report/page, put into the library when it is built.

namespace diarist::output {

// Named as the files are.
// NOLINTBEGIN(readability-identifier-naming)
extern const char* const report_html;
extern const char* const report_css;
extern const char* const text_js;
extern const char* const turns_js;
extern const char* const waveform_js;
extern const char* const timeline_js;
extern const char* const gestures_js;
extern const char* const player_js;
extern const char* const speakers_js;
extern const char* const list_js;
extern const char* const main_js;
// NOLINTEND(readability-identifier-naming)

}  // namespace diarist::output
