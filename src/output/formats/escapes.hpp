#pragma once
// Names inside formats that give some characters a meaning: those become %XX, byte by byte, and
// can be undone.

#include <string>
#include <string_view>

namespace diarist::output {

/// What a format can't hold as it is. Control characters are always escaped: ASCII's and Unicode's,
/// its line separators, and what is no character at all (U+FFFE, U+FFFF).
struct Escapes {
  std::string_view marks = {};  ///< ASCII characters with a meaning
  /// Every white space (ASCII and Unicode); otherwise only the spaces that a reader may drop: the
  /// first, the last, and those after another.
  bool every_blank = false;
  bool every_percent = false;  ///< every '%'; otherwise only where it would be taken for an escape
};

/// The name as text of the format; an empty name becomes "<NA>".
std::string escaped(std::string_view name, const Escapes& escapes);

/// Undoes escaped(); a '%' that it would not have written stays as it is.
std::string unescaped(std::string_view text, const Escapes& escapes);

/// Id as one field of RTTM: white space, control characters and '%' become %XX.
std::string encode_field(std::string_view id);
std::string decode_field(std::string_view field);

/// Name as (part of) a line of text: control characters, and spaces that a reader may drop.
inline constexpr Escapes kLineText{};

}  // namespace diarist::output
