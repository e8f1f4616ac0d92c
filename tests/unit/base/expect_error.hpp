#pragma once
// Expectations about Error, and the truncation test every reader must pass.

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>

#include "diarist/error.hpp"

namespace diarist::test {

inline std::span<const std::byte> view(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Runs `body`, which must throw Error with this code and a text that contains `part`.
template <typename Body>
void expect_error(ErrorCode code, const std::string& part, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "'" << part << "' is not in: " << error.what();
    return;
  }
  ADD_FAILURE() << "no Error was thrown, expected one with: " << part;
}

/// Gives `read` every proper prefix of a valid file. Each must be refused with kBadFile, and each
/// refusal must name the source. Returns how many prefixes were read as valid all the same.
template <typename Read>
int count_valid_truncations(const std::string& file, const std::string& source, Read&& read) {
  int valid = 0;
  for (std::size_t length = 0; length < file.size(); ++length) {
    const std::string part = file.substr(0, length);  // its own buffer: a sanitizer sees the end
    try {
      read(view(part));
      ++valid;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadFile) << error.what();
      EXPECT_NE(std::string(error.what()).find(source), std::string::npos) << error.what();
    }
  }
  return valid;
}

}  // namespace diarist::test
