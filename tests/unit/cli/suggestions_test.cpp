#include "suggestions.hpp"

#include <gtest/gtest.h>

namespace diarist::cli {
namespace {

// Counted by hand.
TEST(Suggestions, EditsAreCounted) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // k-s, e-i, +g
  EXPECT_EQ(edit_distance("rnu", "run"), 1);         // neighbours swapped
  EXPECT_EQ(edit_distance("--fromat", "--format"), 1);
  EXPECT_EQ(edit_distance("ca", "abc"), 3);  // no edit inside a swapped pair
}

TEST(Suggestions, NearMissesAreOfferedAndFarOnesAreNot) {
  const std::vector<std::string> verbs = {"run", "score", "models", "embed"};
  EXPECT_EQ(nearest("rnu", verbs), "run");
  EXPECT_EQ(nearest("model", verbs), "models");
  EXPECT_EQ(nearest("dance", verbs), std::nullopt);
  EXPECT_EQ(nearest("", verbs), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'x'), verbs), std::nullopt);
  EXPECT_EQ(did_you_mean("scroe", verbs), " (did you mean score?)");
  EXPECT_EQ(did_you_mean("dance", verbs), "");
}

}  // namespace
}  // namespace diarist::cli
