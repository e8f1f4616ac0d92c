#pragma once
// Manual pages, written from the parser itself so that they can't tell anything else.

#include <string>

#include "verb_pages.hpp"

namespace diarist::cli {

/// "diarist-models-pull.1"
std::string man_file_name(const VerbPage& page);

/// One page in man(7) roff. `root` is for the list of verbs and the references.
std::string man_page(const VerbPage& page, const VerbPage& root);

}  // namespace diarist::cli
