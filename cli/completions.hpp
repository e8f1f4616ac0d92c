#pragma once
// Completions for shells, written from the parser itself.

#include <string>

#include "verb_pages.hpp"

namespace diarist::cli {

/// Scripts that complete verbs, options, names that options know, and files where they fit.
std::string bash_completion(const VerbPage& root);
std::string zsh_completion(const VerbPage& root);
std::string fish_completion(const VerbPage& root);

}  // namespace diarist::cli
