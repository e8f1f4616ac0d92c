// What each format looks like, written down by hand, and what its reader takes and refuses.

#include <gtest/gtest.h>

#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "unit/output/format_results.hpp"
#include "unit/output/results.hpp"

namespace diarist {
namespace {

Diarization two_speakers() {
  Diarization result;
  result.uri = "two words";
  result.duration = 3700.25;
  result.speakers = {{"Anna", 3.5, {}}, {"\"B\" <b> & c", 1, {}}};
  result.turns = {{0.5, 2.5, 0}, {1.25, 2.25, 1}, {3661.0016, 3662.5, 0}};
  result.exclusive_turns = result.turns;
  return result;
}

TEST(FormatText, Csv) {
  EXPECT_EQ(to_text(two_speakers(), Format::kCsv),
            "uri,start,end,speaker\n"
            "two words,0.500,2.500,Anna\n"
            "two words,1.250,2.250,\"\"\"B\"\" <b> & c\"\n"
            "two words,3661.002,3662.500,Anna\n");
  EXPECT_EQ(to_text(Diarization{}, Format::kTsv), "uri\tstart\tend\tspeaker\n");
}

TEST(FormatText, SubRip) {
  EXPECT_EQ(to_text(two_speakers(), Format::kSrt),
            "1\n00:00:00,500 --> 00:00:02,500\n[Anna]\n\n"
            "2\n00:00:01,250 --> 00:00:02,250\n[\"B\" %3Cb%3E & c]\n\n"
            "3\n01:01:01,002 --> 01:01:02,500\n[Anna]\n\n");
}

TEST(FormatText, WebVtt) {
  EXPECT_EQ(to_text(two_speakers(), Format::kVtt),
            "WEBVTT\n\n"
            "00:00:00.500 --> 00:00:02.500\n<v Anna>Anna\n\n"
            "00:00:01.250 --> 00:00:02.250\n"
            "<v &quot;B&quot; &lt;b&gt; &amp; c>&quot;B&quot; &lt;b&gt; &amp; c\n\n"
            "01:01:01.002 --> 01:01:02.500\n<v Anna>Anna\n\n");
}

// As Praat 6 saves the same grid (blanks at line ends included), but for zeros at the end of
// numbers.
TEST(FormatText, TextGrid) {
  EXPECT_EQ(to_text(two_speakers(), Format::kTextGrid),
            R"(File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0 
xmax = 3700.250 
tiers? <exists> 
size = 2 
item []: 
    item [1]:
        class = "IntervalTier" 
        name = "Anna" 
        xmin = 0 
        xmax = 3700.250 
        intervals: size = 5 
        intervals [1]:
            xmin = 0 
            xmax = 0.500 
            text = "" 
        intervals [2]:
            xmin = 0.500 
            xmax = 2.500 
            text = "Anna" 
        intervals [3]:
            xmin = 2.500 
            xmax = 3661.002 
            text = "" 
        intervals [4]:
            xmin = 3661.002 
            xmax = 3662.500 
            text = "Anna" 
        intervals [5]:
            xmin = 3662.500 
            xmax = 3700.250 
            text = "" 
    item [2]:
        class = "IntervalTier" 
        name = """B"" <b> & c" 
        xmin = 0 
        xmax = 3700.250 
        intervals: size = 3 
        intervals [1]:
            xmin = 0 
            xmax = 1.250 
            text = "" 
        intervals [2]:
            xmin = 1.250 
            xmax = 2.250 
            text = """B"" <b> & c" 
        intervals [3]:
            xmin = 2.250 
            xmax = 3700.250 
            text = "" 
)");
}

TEST(FormatText, Elan) {
  const std::string text = to_text(two_speakers(), Format::kElan);
  EXPECT_NE(text.find(R"(
        <TIME_SLOT TIME_SLOT_ID="ts3" TIME_VALUE="3661002"/>
        <TIME_SLOT TIME_SLOT_ID="ts4" TIME_VALUE="3662500"/>
        <TIME_SLOT TIME_SLOT_ID="ts5" TIME_VALUE="1250"/>
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(
    <TIER LINGUISTIC_TYPE_REF="default-lt" PARTICIPANT="&quot;B&quot; &lt;b&gt; &amp; c" TIER_ID="&quot;B&quot; &lt;b&gt; &amp; c">
        <ANNOTATION>
            <ALIGNABLE_ANNOTATION ANNOTATION_ID="a3" TIME_SLOT_REF1="ts5" TIME_SLOT_REF2="ts6">
                <ANNOTATION_VALUE>&quot;B&quot; &lt;b&gt; &amp; c</ANNOTATION_VALUE>
            </ALIGNABLE_ANNOTATION>
        </ANNOTATION>
    </TIER>
)"),
            std::string::npos)
      << text;
}

TEST(FormatText, LinesOfLabels) {
  EXPECT_EQ(to_text(two_speakers(), Format::kAudacity),
            "0.500000\t2.500000\tAnna\n"
            "1.250000\t2.250000\t\"B\" <b> & c\n"
            "3661.002000\t3662.500000\tAnna\n");
  EXPECT_EQ(to_text(two_speakers(), Format::kLab),
            "0.500 2.500 Anna\n"
            "1.250 2.250 \"B\"%20<b>%20&%20c\n"
            "3661.002 3662.500 Anna\n");
  EXPECT_EQ(to_text(two_speakers(), Format::kUem), "two%20words 1 0.000 3700.250\n");
}

// The shape of pyannote.core 4.5's Annotation.for_json().
TEST(FormatText, Pyannote) {
  EXPECT_EQ(to_text(two_speakers(), Format::kPyannote), R"({
  "pyannote": "Annotation",
  "content": [
    {"segment": {"start": 0.500, "end": 2.500}, "track": "0", "label": "Anna"},
    {"segment": {"start": 1.250, "end": 2.250}, "track": "1", "label": "\"B\" <b> & c"},
    {"segment": {"start": 3661.002, "end": 3662.500}, "track": "2", "label": "Anna"}
  ],
  "uri": "two words"
}
)");
  EXPECT_EQ(to_text(Diarization{}, Format::kPyannote),
            "{\n  \"pyannote\": \"Annotation\",\n  \"content\": []\n}\n");
}

Diarization read(const std::string& text, std::optional<Format> format = {}) {
  const std::vector<Diarization> results = parse_results(text, format, "file", "stem");
  EXPECT_EQ(results.size(), 1U);
  return results.at(0);
}

std::string turns_of(const Diarization& result) {
  std::string text = result.uri + ":";
  for (const Turn& turn : result.turns) {
    char line[200];
    std::snprintf(line, sizeof line, " %g-%g %s", turn.start, turn.end,
                  result.speakers[static_cast<std::size_t>(turn.speaker)].name.c_str());
    text += line;
  }
  return text;
}

TEST(FormatReaders, TakeTablesOfOthers) {
  EXPECT_EQ(turns_of(read("Speaker;Start;Duration\r\nAnna;0,5;1,25\r\n\r\n\"B;b\";2;1\r\n")),
            "stem: 0.5-1.75 Anna 2-3 B;b");
  EXPECT_EQ(turns_of(read("label\tend\tstart\tnote\nA\t2\t1\t\n", Format::kTsv)), "stem: 1-2 A");
  const std::vector<Diarization> two = parse_results(
      "file,start,end,speaker\n007,0,1,A\n7,0,1,A\n\"two\nlines\",1,2,\"x \"\"y\"\"\"\n", {}, "x",
      "y");
  ASSERT_EQ(two.size(), 3U);
  EXPECT_EQ(turns_of(two[0]), "007: 0-1 A");
  EXPECT_EQ(turns_of(two[1]), "7: 0-1 A");
  EXPECT_EQ(turns_of(two[2]), "two\nlines: 1-2 x \"y\"");
}

TEST(FormatReaders, TakeSubtitlesOfOthers) {
  EXPECT_EQ(turns_of(read("\n1\n0:0:1,5 --> 00:00:02.25  X1:40 X2:600\n[Anna]: Hello,\nyou\n\n\n"
                          "00:01:00,000 --> 00:01:01,000\nBen Lee: at 12:30\n")),
            "stem: 1.5-2.25 Anna 60-61 Ben Lee");
  EXPECT_EQ(turns_of(read("WEBVTT - a title\nKind: captions\n\nNOTE\nA: b\n\nSTYLE\n"
                          "::cue { color: red }\n\nintro\n00:01.000 --> 00:02.000 align:start\n"
                          "<v.loud.first  Anna &amp; Ben >Hi</v> <v Cleo>hello</v>\n\n"
                          "100:00:00.000 --> 100:00:01.000\n[Dora] <i>yes</i>\n")),
            "stem: 1-2 Anna & Ben 1-2 Cleo 360000-360001 Dora");
}

TEST(FormatReaders, TakeGridsOfPraat) {
  // Saved by Praat as short text file; comments and flags as its manual allows them.
  const std::string brief =
      "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\n0\n2.5\n<exists>\n3\n"
      "\"IntervalTier\"\n\"Mary \"\"M\"\" Lee\"\n0\n2.5\n2\n0\n1.25\n\"\"\n1.25\n2.5\n\"hello\n"
      "you\"\n\"TextTier\"\n\"bell\"\n0\n2.5\n1\n1\n\"ding\"\n\"IntervalTier\"\n\"John\"\n0\n2.5\n"
      "1 ! one interval\n0 2.5 \" \"\n";
  const Diarization result = read(brief);
  EXPECT_EQ(turns_of(result), "stem: 1.25-2.5 Mary \"M\" Lee");
  EXPECT_EQ(result.duration, 2.5);
  // The manual's minimal form: everything on one line.
  EXPECT_EQ(turns_of(read("\"ooTextFile\" \"TextGrid\" 0 1 <exists> 1 \"IntervalTier\" \"A\" 0 1 "
                          "1 0 1 \"x\"")),
            "stem: 0-1 A");
  EXPECT_TRUE(read("File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n0\n1\n<absent>\n")
                  .turns.empty());
}

TEST(FormatReaders, TakeTiersOfElan) {
  const std::string text = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE ANNOTATION_DOCUMENT [<!ENTITY x "y">]>
<ANNOTATION_DOCUMENT AUTHOR="" DATE="2020-01-01T10:00:00+01:00" FORMAT="3.0" VERSION="3.0">
  <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>
  <TIME_ORDER>
    <TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="1000"/><TIME_SLOT TIME_SLOT_ID="ts2"/>
    <TIME_SLOT TIME_SLOT_ID="ts3" TIME_VALUE="2500"/>
  </TIME_ORDER>
  <TIER LINGUISTIC_TYPE_REF="t" TIER_ID="A&apos;s words" PARTICIPANT="A">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts3">
      <ANNOTATION_VALUE/></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
  <TIER LINGUISTIC_TYPE_REF="w" TIER_ID="words" PARENT_REF="A&apos;s words" PARTICIPANT="A">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a2" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts2">
      <ANNOTATION_VALUE>hi</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
  <TIER LINGUISTIC_TYPE_REF="t" TIER_ID="&#x65E5;&#26412;">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a3" TIME_SLOT_REF1="ts3" TIME_SLOT_REF2="ts3">
      <ANNOTATION_VALUE>x</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a4" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts3">
      <ANNOTATION_VALUE>x</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
</ANNOTATION_DOCUMENT>)";
  const Diarization result = read(text);
  EXPECT_EQ(turns_of(result), "stem: 1-2.5 A 1-2.5 日本");
  EXPECT_EQ(result.warnings, std::vector<std::string>{"1 turn without a length left out"});
}

TEST(FormatReaders, TakeLabelsOfOthers) {
  EXPECT_EQ(turns_of(read("0.000000\t1.500000\tAnna Lee\n\\\t100.0\t2000.0\n2\t2\tpoint\n")),
            "stem: 0-1.5 Anna Lee");
  EXPECT_EQ(turns_of(read("0 1.5 Anna\n1.5\t2e0 B%20b\n")), "stem: 0-1.5 Anna 1.5-2 B b");
  EXPECT_EQ(turns_of(read(R"({"content": [{"track": 1, "label": 7, "segment": {"end": 2, "start":
                              0.5}}], "modality": "audio", "pyannote": "Annotation"})")),
            "stem: 0.5-2 7");
}

TEST(FormatReaders, SpeakersAreInOrderOfTheirFirstTurn) {
  const Diarization result = read("5 6 A\n1 2 B\n1 3 C\n0.5 9 A\n", Format::kLab);
  EXPECT_EQ(turns_of(result), "stem: 0.5-9 A 1-2 B 1-3 C 5-6 A");
  ASSERT_EQ(result.speakers.size(), 3U);
  EXPECT_EQ(result.speakers[0].name, "A");
  EXPECT_EQ(result.speakers[0].speech_seconds, 9.5);
  // Without scores: whoever began first goes on.
  ASSERT_EQ(result.exclusive_turns.size(), 1U);
  EXPECT_EQ(result.exclusive_turns[0].end, 9);
}

TEST(FormatReaders, RefuseWithAPlaceAndACure) {
  const struct {
    Format format;
    std::string text;
    const char* part;
  } cases[] = {
      {Format::kCsv, "uri,start,speaker\n", "line 1: the columns start, end"},
      {Format::kCsv, "start,end,speaker\n0,1\n", "line 2: 2 cells in a table of 3 columns"},
      {Format::kCsv, "start,end,speaker\n0,1,\"A\n\nb\"\n2,1,A\n", "line 5: the end 1 lies before"},
      {Format::kCsv, "start,end,speaker\n0,1,\"A\n", "line 2: a quote is never closed"},
      {Format::kCsv, "start,end,speaker\n0,x,A\n", "line 2: 'x' is no number"},
      {Format::kCsv, "start,end,speaker\n0,1e300,A\n", "outside any recording"},
      {Format::kSrt, "1\n00:00:01 --> 00:00:02\n[A]\n", "line 2: '00:00:01 --> 00:00:02' is no"},
      {Format::kSrt, "1\n00:00:01,000 --> 00:99:02,000\n[A]\n", "is no time of a cue"},
      {Format::kSrt, "1\n00:00:02,000 --> 00:00:01,000\n[A]\n", "line 2: the end 1 lies before"},
      {Format::kSrt, "1\n00:00:01,000 --> 00:00:02,000\nhello\n", "does not tell who speaks"},
      {Format::kVtt, "00:01.000 --> 00:02.000\n<v A>\n", "WEBVTT"},
      {Format::kVtt, "WEBVTT\n\n00:01.000 --> 00:02.000\n<b>x</b>\n", "or <v NAME>"},
      {Format::kTextGrid, "ooTextFile", "file ends where the file type"},
      {Format::kTextGrid, "\"ooTextFile\" \"Pitch\" ", "no TextGrid"},
      {Format::kTextGrid, "\"ooTextFile\"\n\"TextGrid\" 0 1 <exists> 1 \"Tier\" \"a\" 0 1 0",
       "line 2: a tier is neither"},
      {Format::kTextGrid,
       "\"ooTextFile\" \"TextGrid\" 0 1 <exists> 1 \"IntervalTier\" \"a\" 0 1 1 "
       "0 -5 \"x\"",
       "is '-5'"},
      {Format::kTextGrid, "\"ooTextFile\" \"TextGrid\" 0 1 <exists> 1e9", "are too many"},
      {Format::kTextGrid, "\"ooTextFile\" \"TextGrid\" 0 1 <exists> 1 \"IntervalTier\" \"a",
       "never closed"},
      {Format::kElan, "<ANNOTATION_DOCUMENT>", "byte "},
      {Format::kElan, "<html></html>", "no ANNOTATION_DOCUMENT"},
      {Format::kElan,
       "<ANNOTATION_DOCUMENT><TIER TIER_ID=\"a\"><ANNOTATION><ALIGNABLE_ANNOTATION "
       "ANNOTATION_ID=\"a9\" TIME_SLOT_REF1=\"ts1\"/></ANNOTATION></TIER></ANNOTATION_DOCUMENT>",
       "annotation 'a9': time slot 'ts1' has no time"},
      {Format::kAudacity, "0\t1\n", "line 1: a label has"},
      {Format::kAudacity, "0\t1\tA\nx\t1\tA\n", "line 2: 'x'"},
      {Format::kLab, "0 1 A\n0 1 two words\n", "line 2: a line has"},
      {Format::kJson, "[1]", "no object"},
      {Format::kJson, "{", "parse error"},
      {Format::kJson, R"({"format": "other"})", "its \"format\" is \"other\""},
      {Format::kJson, R"({"format": "diarist.diarization", "version": 2})", "version 2"},
      {Format::kJson, R"({"format": "diarist.diarization", "version": 1})", "turns"},
      {Format::kJson, R"({"format": "diarist.diarization", "version": 1, "turns": [{"start": 2,
                          "end": 1, "speaker": "A"}]})",
       "turn 1: the end"},
      {Format::kJson, R"({"format": 1})", "type must be string"},
      {Format::kPyannote, R"({"pyannote": "Timeline", "content": []})", "no Annotation"},
      {Format::kPyannote, R"({"pyannote": "Annotation", "content": [{"segment": {"start": 0, "end":
                              1}, "label": null}]})",
       "type must be string"},
      {Format::kRttm, "SPEAKER a 1 1e10 1 <NA> <NA> A <NA> <NA>\n", "outside any recording"},
  };
  for (const auto& [format, text, part] : cases) {
    try {
      parse_results(text, format, "file", "stem");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(error.code(), ErrorCode::kBadFile) << message;
      EXPECT_TRUE(message.starts_with("file")) << message;
      EXPECT_NE(message.find(part), std::string::npos) << message << "\n" << text;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(ToDiarization, RefusesWhatIsNoTime) {
  for (const RttmTurn& turn :
       {RttmTurn{-1, 1, "A"}, RttmTurn{0, -1, "A"}, RttmTurn{0, 1e10, "A"}}) {
    EXPECT_THROW(to_diarization("x", {turn}), Error);
  }
  EXPECT_THROW(to_diarization("x", {}, -1), Error);
}

}  // namespace
}  // namespace diarist
