#pragma once
// What a call has finished so far: told when it is interrupted.

#include <cstddef>
#include <mutex>
#include <string>

namespace diarist::cli {

/// Says how many recordings there are and where results go ("results in out/").
void expect_work(std::size_t recordings, std::string place);

/// One more recording has its result written, or is known to have failed.
void note_finished();
void note_failed();

/// "2 of 5 recordings finished, results in out/"; empty when nothing is expected.
std::string work_text();

/// Held while an output is written, so that an interrupt leaves the whole file or none.
std::timed_mutex& output_mutex();

}  // namespace diarist::cli
