#pragma once
// Where results go: standard output or one file per recording.

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/run_control.hpp"

namespace diarist::cli {

/// Writes to standard output. \return false when the reader has gone away (a broken pipe ends
/// quietly). \throws Error kBadFile for anything else, e.g. a full disk.
bool print(std::string_view text);

/// The text with control characters made visible: a message stays one line, whatever a file is
/// called.
std::string one_line(std::string_view text);

/// One line on standard error: "diarist: TEXT"; with --json-progress an event "error".
void complain(std::string_view text);

/// A warning, about a recording where one is named: "diarist: ABOUT: warning: TEXT"; an event
/// "warning" with --json-progress, nothing with --quiet.
void warn(std::string_view text, std::string_view about = {});

/// Further lines on standard error that somebody asked for; an event "note" with --json-progress.
void note(std::string_view text);

/// The last event of a call with --json-progress: its exit code. Nothing otherwise.
void tell_end(int exit_code);

/// Shows a line of progress on the terminal in place of the one before, or takes it away. Messages
/// do so by themselves. Any thread may call these.
void draw_progress(std::string_view line);
void clear_progress();

/// For long work: messages go to standard error, so that standard output carries results only.
RunControl talking_control(std::stop_token stop);

/// Writes atomically (temporary file, rename); through a symbolic link to the file behind it. What
/// is no regular file (/dev/full, a named pipe) is written to and stays what it is.
/// \throws Error kBadFile.
void write_file(const std::filesystem::path& file, std::string_view text);

/// Refuses outputs that are an input of the call too, and two outputs in one file.
/// \throws Error kInvalidArgument.
void refuse_shared_files(const std::vector<std::string>& inputs,
                         const std::vector<std::filesystem::path>& outputs);

/// Refuses an output that could not be written, before the work whose result it is to hold.
/// \throws Error kBadFile.
void check_output_place(const std::filesystem::path& file);

/// One id per input: the file name without its last extension, or with it where two inputs of the
/// call would share an id; then the position is added where even that is not unique.
std::vector<std::string> unique_ids(const std::vector<std::string>& inputs);

/// Columns of the terminal on standard output, 80 when it is none.
int terminal_columns();

}  // namespace diarist::cli
