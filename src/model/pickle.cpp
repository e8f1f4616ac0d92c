#include "model/pickle.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "model/pickle_machine.hpp"

namespace diarist::model::detail {

std::string_view PickleMachine::line() {
  const std::size_t begin = reader_.position();
  std::size_t length = 0;
  for (; reader_.le<std::uint8_t>("pickled line") != '\n'; ++length) {
  }
  return base::as_text(reader_.bytes().subspan(begin, length));
}

std::string_view PickleMachine::take_text(std::uint64_t length) {
  return base::as_text(reader_.take(length, "pickled text"));
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  charge(module.size() + name.size() + 1);
  push_text(Kind::kGlobal, fmt::format("{} {}", module, name));
}

std::int64_t PickleMachine::decimal(std::string_view text) const {
  if (text.ends_with('L')) text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) damaged("not a whole number");
  return number;
}

void PickleMachine::push_decimal(std::string_view text) {
  if (text == "00" || text == "01") return push_number(Kind::kTruth, text == "01");
  push_number(Kind::kInteger, decimal(text));
}

// Two's complement of any length. A number beyond 64 bits is no shape; it stays an object.
void PickleMachine::push_long(std::uint64_t length) {
  const auto bytes = reader_.take(length, "pickled number");
  if (length > 8) {
    push_new(Kind::kObject);
    return;
  }
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    number |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  if (length > 0 && length < 8 && (number >> (8 * length - 1)) != 0)
    number |= ~std::uint64_t{0} << (8 * length);
  push_number(Kind::kInteger, static_cast<std::int64_t>(number));
}

void PickleMachine::step(Opcode code) {
  switch (code) {
    case Opcode::kProto:
      if (reader_.le<std::uint8_t>("pickle protocol") > 5) damaged("unknown protocol");
      return;
    case Opcode::kFrame:
      reader_.take(8, "pickle frame");
      return;
    case Opcode::kMark:
      marks_.push_back(stack_.size());
      return;
    case Opcode::kPop:
      if (!marks_.empty() && stack_.size() == marks_.back()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return;
    case Opcode::kPopMark:
      pop_to_mark();
      return;
    case Opcode::kDup:
      stack_.push_back(top());
      return;
    case Opcode::kPut:
      return store(static_cast<std::uint64_t>(decimal(line())));
    case Opcode::kBinPut:
      return store(reader_.le<std::uint8_t>("memo"));
    case Opcode::kLongBinPut:
      return store(reader_.le<std::uint32_t>("memo"));
    case Opcode::kMemoize:
      return store(memo_.size());
    case Opcode::kGet:
      return recall(static_cast<std::uint64_t>(decimal(line())));
    case Opcode::kBinGet:
      return recall(reader_.le<std::uint8_t>("memo"));
    case Opcode::kLongBinGet:
      return recall(reader_.le<std::uint32_t>("memo"));
    default:
      return step_literal(code);
  }
}

void PickleMachine::step_literal(Opcode code) {
  switch (code) {
    case Opcode::kNone:
      push_new(Kind::kNone);
      return;
    case Opcode::kNewTrue:
      return push_number(Kind::kTruth, 1);
    case Opcode::kNewFalse:
      return push_number(Kind::kTruth, 0);
    case Opcode::kInt:
    case Opcode::kLong:
      return push_decimal(line());
    case Opcode::kBinInt:
      return push_number(Kind::kInteger, reader_.le<std::int32_t>("number"));
    case Opcode::kBinInt1:
      return push_number(Kind::kInteger, reader_.le<std::uint8_t>("number"));
    case Opcode::kBinInt2:
      return push_number(Kind::kInteger, reader_.le<std::uint16_t>("number"));
    case Opcode::kLong1:
      return push_long(reader_.le<std::uint8_t>("number"));
    case Opcode::kLong4:
      return push_long(reader_.le<std::uint32_t>("number"));
    case Opcode::kFloat: {
      const std::string text(line());
      char* end = nullptr;
      const double real = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != '\0') damaged("not a number");
      push_new(Kind::kReal).real = real;
      return;
    }
    case Opcode::kBinFloat: {  // big endian
      const auto bits = __builtin_bswap64(reader_.le<std::uint64_t>("number"));
      push_new(Kind::kReal).real = std::bit_cast<double>(bits);
      return;
    }
    case Opcode::kString: {
      std::string_view text = line();
      if (text.size() >= 2 && text.front() == text.back()) text = text.substr(1, text.size() - 2);
      return push_text(Kind::kText, text);
    }
    case Opcode::kUnicode:
      return push_text(Kind::kText, line());
    case Opcode::kShortBinString:
    case Opcode::kShortBinUnicode:
      return push_text(Kind::kText, take_text(reader_.le<std::uint8_t>("length")));
    case Opcode::kBinString:
    case Opcode::kBinUnicode:
      return push_text(Kind::kText, take_text(reader_.le<std::uint32_t>("length")));
    case Opcode::kBinUnicode8:
      return push_text(Kind::kText, take_text(reader_.le<std::uint64_t>("length")));
    case Opcode::kShortBinBytes:
      return push_text(Kind::kBytes, take_text(reader_.le<std::uint8_t>("length")));
    case Opcode::kBinBytes:
      return push_text(Kind::kBytes, take_text(reader_.le<std::uint32_t>("length")));
    case Opcode::kBinBytes8:
    case Opcode::kByteArray8:
      return push_text(Kind::kBytes, take_text(reader_.le<std::uint64_t>("length")));
    default:
      return step_container(code);
  }
}

void PickleMachine::step_container(Opcode code) {
  switch (code) {
    case Opcode::kEmptyTuple:
      return push_items(Kind::kTuple, {});
    case Opcode::kEmptyList:
    case Opcode::kEmptySet:
      return push_items(Kind::kList, {});
    case Opcode::kEmptyDict:
      return push_items(Kind::kDict, {});
    case Opcode::kTuple1:
      return push_tuple(1);
    case Opcode::kTuple2:
      return push_tuple(2);
    case Opcode::kTuple3:
      return push_tuple(3);
    case Opcode::kTuple:
      return push_items(Kind::kTuple, pop_to_mark());
    case Opcode::kList:
    case Opcode::kFrozenSet:
      return push_items(Kind::kList, pop_to_mark());
    case Opcode::kDict:
      return push_items(Kind::kDict, pop_to_mark());
    case Opcode::kAppend: {
      const Index item = pop();
      return add_items(top(), std::span(&item, 1));
    }
    case Opcode::kAppends:
    case Opcode::kAddItems: {
      const std::vector<Index> items = pop_to_mark();
      return add_items(top(), items);
    }
    case Opcode::kSetItem: {
      const Index value = pop();
      const Index key = pop();
      const Index items[] = {key, value};
      return set_items(top(), items);
    }
    case Opcode::kSetItems: {
      const std::vector<Index> items = pop_to_mark();
      return set_items(top(), items);
    }
    default:
      return step_object(code);
  }
}

void PickleMachine::step_object(Opcode code) {
  switch (code) {
    case Opcode::kGlobal: {
      const std::string_view module = line();
      return push_global(module, line());
    }
    case Opcode::kStackGlobal: {
      const Index name = pop();
      const Index module = pop();
      if (at(name).kind != Kind::kText || at(module).kind != Kind::kText)
        damaged("a class has no name");
      return push_global(at(module).text, at(name).text);
    }
    case Opcode::kReduce:
    case Opcode::kNewObj:
      return call_from_stack();
    case Opcode::kNewObjEx:
      pop();  // keyword arguments
      return call_from_stack();
    case Opcode::kInst: {  // class in the text, arguments down to the mark
      line();
      line();
      pop_to_mark();
      push_new(Kind::kObject);
      return;
    }
    case Opcode::kObj:
      pop_to_mark();
      push_new(Kind::kObject);
      return;
    case Opcode::kBuild:  // attributes of whatever it is
      pop();
      (void)top();
      return;
    case Opcode::kPersId:
      line();
      push_new(Kind::kObject);
      return;
    case Opcode::kBinPersId:
      return persistent(pop());
    case Opcode::kReadOnlyBuffer:
      return;
    default:
      damaged("an opcode that has no place in weight files");
  }
}

std::uint32_t Pickle::find(std::uint32_t dictionary, std::string_view key) const {
  const PickleValue& value = values[dictionary];
  if (value.kind != PickleValue::Kind::kDict && value.kind != PickleValue::Kind::kObject)
    return kMissing;
  for (std::size_t i = value.items.size(); i >= 2; i -= 2) {
    const PickleValue& candidate = values[value.items[i - 2]];
    if (candidate.kind == PickleValue::Kind::kText && candidate.text == key)
      return value.items[i - 1];
  }
  return kMissing;
}

Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& source) {
  return PickleMachine(bytes, source).run();
}

}  // namespace diarist::model::detail
