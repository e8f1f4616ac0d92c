#pragma once
// Encodings of text files.

#include <string>
#include <string_view>

namespace diarist::output {

/// The text in UTF-8 without a byte order mark: UTF-16 with a mark is converted (half a surrogate
/// pair becomes U+FFFD), anything else stays as it is.
std::string as_utf8(std::string_view bytes);

/// For formats that allow nothing but UTF-8: bytes that are none become U+FFFD.
std::string valid_utf8(std::string_view text);

/// For XML: valid UTF-8 with & < > and " as entities.
std::string xml_text(std::string_view text);

/// Letters A to Z in lower case.
std::string lower_case(std::string_view text);

}  // namespace diarist::output
