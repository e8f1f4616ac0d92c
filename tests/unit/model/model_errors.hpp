#pragma once
// Expectations about refused weights.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "diarist/error.hpp"

namespace diarist::test {

/// Expects an Error with this code whose text contains every one of the words.
inline void expect_refused(const std::function<void()>& call, ErrorCode code,
                           const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "\"" << error.what() << "\" does not contain " << word;
    }
  }
}

}  // namespace diarist::test
