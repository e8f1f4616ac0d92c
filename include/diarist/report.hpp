#pragma once
/// \file
/// Results to look at: a page for the browser, and plots for papers.

#include <string>

#include "diarist/export.hpp"
#include "diarist/result.hpp"

namespace diarist {

/// The recording as the page finds it: embedded, or beside the page, or chosen by the reader.
struct ReportAudio {
  std::string name;   ///< shown to the reader, e.g. the file's name
  std::string href;   ///< relative URL of the recording, percent-encoded; empty: none
  std::string type;   ///< media type of `bytes`, e.g. "audio/mpeg"
  std::string bytes;  ///< a whole encoded file, put into the page; empty: not embedded
};

/// Options of to_html().
struct ReportOptions {
  std::string title;  ///< empty: the uri of the result
  ReportAudio audio;
};

/// One HTML file that needs nothing else: waveform (where Diarization::waveform is there), lanes,
/// playing, renaming, merging and export (docs/report.md). It makes no connection, which its own
/// content security policy enforces. Every name is escaped. Same input, same text.
/// \throws Error kInternal for turns that can't be printed.
DIARIST_API std::string to_html(const Diarization& result, const ReportOptions& options = {});

/// Options of to_svg() and to_png().
struct PlotOptions {
  std::string title;  ///< empty: the uri of the result
  int width = 1000;   ///< units (SVG) or half pixels (PNG); 400 to 10000
};

/// The lanes as SVG text, waveform above them where it is there. Same input, same text.
/// \throws Error kInvalidArgument for the width.
DIARIST_API std::string to_svg(const Diarization& result, const PlotOptions& options = {});

/// The same plot as the bytes of a PNG, two pixels per unit. Letters come from a small stroke font:
/// accents are left out, and what is neither ASCII nor Latin-1 shows as a box.
/// \throws Error kInvalidArgument for the width.
DIARIST_API std::string to_png(const Diarization& result, const PlotOptions& options = {});

}  // namespace diarist
