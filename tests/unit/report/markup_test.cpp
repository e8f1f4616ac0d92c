// Escaping and base64, by literals of the standards.

#include "output/report/markup.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace diarist::output {
namespace {

TEST(Base64, EqualsTheVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\x80"), "//6A");
}

TEST(MarkupText, LeavesNoMarkup) {
  EXPECT_EQ(markup_text("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(markup_text("Zoë 日本 😀"), "Zoë 日本 😀");
  EXPECT_EQ(markup_text("a\tb\nc\x01\x7F"), "a b c  ");
}

TEST(MarkupText, ReplacesWhatIsNotUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(markup_text("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(markup_text("\xC0\xAF"), bad + bad) << "overlong";
  EXPECT_EQ(markup_text("\xED\xA0\x80"), bad + bad + bad) << "half of a surrogate pair";
  EXPECT_EQ(markup_text("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond U+10FFFF";
  EXPECT_EQ(markup_text("\xE6\x97"), bad + bad) << "cut off";
  EXPECT_EQ(markup_text("\xEF\xBF\xBF"), bad) << "U+FFFF is no character of XML";
}

TEST(JsonInsideHtml, EndsNoScriptAndMeansTheSame) {
  const nlohmann::json value = {{"a", "</script><!-- & \xE2\x80\xA8\xE2\x80\xA9 \\"}};
  const std::string text = json_inside_html(value.dump());
  for (const char* piece : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xA9"})
    EXPECT_EQ(text.find(piece), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(text), value);
}

}  // namespace
}  // namespace diarist::output
