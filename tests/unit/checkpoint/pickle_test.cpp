// The pickle machine alone: what it makes of opcodes, and what it refuses.

#include "model/pickle.hpp"

#include <fmt/format.h>

#include "unit/base/expect_error.hpp"
#include "unit/checkpoint/weight_files.hpp"

namespace diarist::model::detail {
namespace {

using Kind = PickleValue::Kind;
using test::expect_error;
using test::PickleWriter;
using test::view;

Pickle parse(const std::string& bytes) { return parse_pickle(view(bytes), "my.pkl"); }

// A pickle as a Python literal, for comparisons; classes as <>, names as <module name>.
std::string shown(const Pickle& pickle, std::uint32_t index, int depth = 0) {
  const PickleValue& value = pickle.values.at(index);
  const auto list = [&](const char* open, const char* close) {
    std::string text = open;
    for (std::size_t i = 0; i < value.items.size() && depth < 8; ++i) {
      if (i > 0) text += ' ';
      text += shown(pickle, value.items[i], depth + 1);
    }
    return text + close;
  };
  switch (value.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kTruth:
      return value.number != 0 ? "True" : "False";
    case Kind::kInteger:
      return fmt::format("{}", value.number);
    case Kind::kReal:
      return fmt::format("{}", value.real);
    case Kind::kText:
      return fmt::format("'{}'", value.text);
    case Kind::kBytes:
      return fmt::format("b'{}'", value.text);
    case Kind::kTuple:
      return list("(", ")");
    case Kind::kList:
      return list("[", "]");
    case Kind::kDict:
      return list("{", "}");
    case Kind::kGlobal:
      return fmt::format("<{}>", value.text);
    case Kind::kObject:
      return list("<", ">");
    case Kind::kStorage:
      return list("storage(", ")");
    case Kind::kTensor:
      return list("tensor(", ")");
  }
  return "?";
}

std::string shown(const std::string& bytes) {
  const Pickle pickle = parse(bytes);
  return shown(pickle, pickle.root);
}

std::string with_zeros(const char* bytes, std::size_t count) { return {bytes, count}; }
#define BYTES(literal) with_zeros(literal, sizeof(literal) - 1)

// Made by Python's pickle.dumps([None, True, -5, 300, 70000, 1 << 40, -1, 0.5, "text", b"bytes",
// (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {"k": []}, set()], protocol).
const char* const kEverything =
    "[None True -5 300 70000 1099511627776 -1 0.5 'text' b'bytes' (1) (1 2) (1 2 3) (1 2 3 4) "
    "{'k' []} []]";

TEST(Pickle, Protocol4) {
  EXPECT_EQ(
      shown(BYTES("\x80\x04\x95\x61\0\0\0\0\0\0\0]\x94(N\x88J\xfb\xff\xff\xffM,\x01Jp\x11\x01"
                  "\0\x8a\x06\0\0\0\0\0\x01J\xff\xff\xff\xffG?\xe0\0\0\0\0\0\0\x8c\x04text\x94"
                  "C\x05"
                  "bytes\x94K\x01\x85\x94K\x01K\x02\x86\x94K\x01K\x02K\x03\x87\x94(K\x01"
                  "K\x02K\x03K\x04t\x94}\x94\x8c\x01k\x94]\x94s\x8f\x94"
                  "e.")),
      kEverything);
}

TEST(Pickle, Protocols0And1) {
  EXPECT_EQ(shown("(lp0\nNaI01\naI-5\naL300L\naF0.5\naVtext\np1\naS'old'\na(I1\nI2\ntp2\na(dp3\n"
                  "Vk\n(lsa."),
            "[None True -5 300 0.5 'text' 'old' (1 2) {'k' []}]");
  EXPECT_EQ(shown(BYTES("](K\x01U\x03"
                        "abcT\x02\0\0\0xyq\x05h\x05r\x01\x01\0\0j\x01\x01\0\0e.")),
            "[1 'abc' 'xy' 'xy' 'xy']");
}

TEST(Pickle, LongNumbers) {
  EXPECT_EQ(shown(BYTES("\x8a\0.")), "0");
  EXPECT_EQ(shown(BYTES("\x8a\x01\x80.")), "-128");
  EXPECT_EQ(shown(BYTES("\x8a\x08\0\0\0\0\0\0\0\x80.")), "-9223372036854775808");
  EXPECT_EQ(shown(BYTES("\x8b\x02\0\0\0\xff\x7f.")), "32767");
  EXPECT_EQ(shown(BYTES("\x8a\x09\0\0\0\0\0\0\0\0\x01.")), "<>");  // no shape is that large
}

TEST(Pickle, ClassesAreInert) {
  // os.system("true"), in the ways a pickle can ask for it.
  const std::string attribute = "X\x04" + std::string(3, '\0') + "true";
  EXPECT_EQ(shown("cos\nsystem\n(" + attribute + "tR."), "<>");
  EXPECT_EQ(shown("cos\nsystem\n" + attribute + "\x85R."), "<>");
  EXPECT_EQ(shown("(" + attribute + "ios\nsystem\n."), "<>");
  EXPECT_EQ(shown("(cos\nsystem\n" + attribute + "o."), "<>");
  EXPECT_EQ(shown("\x80\x04\x8c\x02os\x8c\x06system\x93" + attribute + "\x85R."), "<>");
  EXPECT_EQ(shown("cos\nsystem\n)\x81."), "<>");
  EXPECT_EQ(shown("cos\nsystem\n)}\x92."), "<>");
  EXPECT_EQ(shown("cos\nsystem\n."), "<os system>");
  // Objects with state, with items, with elements; an unknown persistent id.
  EXPECT_EQ(shown("cmy\nClass\n)\x81}(Va\nK\x01ub."), "<>");
  EXPECT_EQ(shown("cmy\nDict\n)\x81Va\nK\x01s."), "<'a' 1>");
  EXPECT_EQ(shown("cmy\nList\n)\x81K\x01"
                  "a(K\x02K\x03"
                  "e."),
            "<>");
  EXPECT_EQ(shown("(K\x01K\x02tQ."), "<>");
  EXPECT_EQ(shown("Psome id\n."), "<>");
}

TEST(Pickle, OrderedDictionaries) {
  const std::string name = "ccollections\nOrderedDict\n";
  EXPECT_EQ(shown(name + ")R(Va\nK\x01Vb\nK\x02u."), "{'a' 1 'b' 2}");
  EXPECT_EQ(shown(name + ")\x81Va\nK\x01s}b."), "{'a' 1}");
  EXPECT_EQ(shown(name + "(](](Vb\nK\x02"
                         "e(Vc\nK\x03tetR."),
            "{'b' 2 'c' 3}");
  EXPECT_EQ(shown(name + "(}(Va\nK\x01utR."), "{'a' 1}");
  const Pickle twice = parse("}(Va\nK\x01Va\nK\x02u.");
  EXPECT_EQ(twice.values[twice.find(twice.root, "a")].number, 2);
  EXPECT_EQ(twice.find(twice.root, "b"), Pickle::kMissing);
}

TEST(Pickle, ContainsItself) {
  const Pickle pickle = parse(
      "]q\x01h\x01"
      "a.");
  EXPECT_EQ(pickle.values[pickle.root].items, std::vector<std::uint32_t>{pickle.root});
}

TEST(Pickle, Refusals) {
  const auto refused = [](const std::string& bytes, const char* why) {
    expect_error(ErrorCode::kBadFile, why, [&] { parse(bytes); });
  };
  refused("", "my.pkl");
  refused("N", "cut short");
  refused(".", "stack is empty");
  refused("0.", "stack is empty");
  refused("(.", "stack is empty");
  refused("N(0a.", "stack is empty");
  refused("t.", "mark is missing");
  refused("](NNNu.", "without a value");
  refused("N(NNu.", "keys set");
  refused("NNa.", "items added");
  refused("K\x01\x86.", "stack is empty");
  refused("h\x05.", "unknown memo");
  refused("q\x05.", "stack is empty");
  refused("gx\n.", "not a whole number");
  refused("I99999999999999999999\n.", "not a whole number");
  refused("Fabc\n.", "not a number");
  refused("\x80\x06N.", "unknown protocol");
  refused("\x82\x01.", "no place");
  refused("\x97.", "no place");
  refused("NN\x93.", "no name");
  refused("\x8a", "cut short");
  refused("X\xff\xff\xff\xffzz.", "cut short");
  refused("\x8d\xff\xff\xff\xff\xff\xff\xff\xffzz.", "cut short");
  refused("ctorch._utils\n_rebuild_tensor_v2\n)R.", "lacks arguments");
  refused("ctorch._utils\n_rebuild_tensor_v2\n(NK\1))tR.", "no storage");
  PickleWriter shape;  // a text as shape
  shape.global("torch._utils", "_rebuild_tensor_v2").op("(").storage("FloatStorage", "0", 1);
  refused(shape.number(0).text("x").op(")tR").finish(), "no tuple");
}

TEST(Pickle, SmallFilesCantAskForMuch) {
  // A dictionary of 30000 pairs, copied again and again.
  std::string list = "](";
  for (int i = 0; i < 30000; ++i) list += "](NNe";
  list +=
      "eq\x01"
      "0";
  for (int i = 0; i < 10000; ++i) list += "ccollections\nOrderedDict\n(h\x01tR0";
  expect_error(ErrorCode::kBadFile, "too many copies", [&] { parse(list + "N."); });
  expect_error(ErrorCode::kBadFile, "too many values",
               [&] { parse(std::string(1'500'000, 'N') + "."); });
  EXPECT_EQ(parse(std::string(500'000, ']') + ".").values.size(), 500'000u);
}

TEST(Pickle, EveryTruncationIsRefused) {
  const std::string file = test::small_state_dict();
  EXPECT_EQ(test::count_valid_truncations(file, "cut.pkl",
                                          [](auto bytes) { parse_pickle(bytes, "cut.pkl"); }),
            0);
}

}  // namespace
}  // namespace diarist::model::detail
