#pragma once
// The files of src/output/report/page, put into the library when it is built.

namespace diarist::output {

extern const char* const kReportHtml;
extern const char* const kReportCss;
extern const char* const kTextJs;
extern const char* const kTurnsJs;
extern const char* const kWaveformJs;
extern const char* const kTimelineJs;
extern const char* const kGesturesJs;
extern const char* const kPlayerJs;
extern const char* const kSpeakersJs;
extern const char* const kListJs;
extern const char* const kMainJs;

}  // namespace diarist::output
