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

/// One line on standard error: "diarist: TEXT".
void complain(std::string_view text);

/// For long work: messages go to standard error, so that standard output carries results only.
RunControl talking_control(std::stop_token stop);

/// Writes atomically (temporary file, rename). \throws Error kBadFile.
void write_file(const std::filesystem::path& file, std::string_view text);

/// Refuses an output that could not be written, before the work whose result it is to hold.
/// \throws Error kBadFile.
void check_output_place(const std::filesystem::path& file);

/// One id per input: the file name without its last extension, or with it where two inputs of the
/// call would share an id; then the position is added where even that is not unique.
std::vector<std::string> unique_ids(const std::vector<std::string>& inputs);

/// Columns of the terminal on standard output, 80 when it is none.
int terminal_columns();

}  // namespace diarist::cli
