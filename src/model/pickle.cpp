#include "model/pickle.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/byte_reader.hpp"
#include "model/pickle_opcodes.hpp"

namespace diarist::model::detail {
namespace {

using Kind = PickleValue::Kind;
using Index = std::uint32_t;

constexpr std::size_t kMostValues = 2'000'000;
// Bytes of references, shapes and names. A short program can copy a large value again and again;
// this bounds it.
constexpr std::size_t kMostCopied = std::size_t{256} << 20;
constexpr std::size_t kLargestRank = 64;

bool is_torch(std::string_view global, std::string_view name) {
  return global.starts_with("torch") && global.ends_with(name) && global.size() > name.size() &&
         global[global.size() - name.size() - 1] == ' ';
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& source)
      : reader_(bytes, source), source_(source) {}

  Pickle run() {
    for (;;) {
      const auto code = static_cast<Opcode>(reader_.le<std::uint8_t>("pickle opcode"));
      if (code == Opcode::kStop) break;
      step(code);
    }
    pickle_.root = pop();
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void damaged(std::string_view why) const {
    base::fail(ErrorCode::kBadFile, "{}: the pickled part is damaged near byte {} ({})", source_,
               reader_.position(), why);
  }

  // --- stack, marks, memo ---------------------------------------------------------------------

  PickleValue& at(Index index) { return pickle_.values[index]; }

  PickleValue& push_new(Kind kind) {
    if (pickle_.values.size() == kMostValues) damaged("too many values");
    stack_.push_back(static_cast<Index>(pickle_.values.size()));
    PickleValue& value = pickle_.values.emplace_back();
    value.kind = kind;
    return value;
  }
  void push_number(Kind kind, std::int64_t number) { push_new(kind).number = number; }
  void push_text(Kind kind, std::string_view text) { push_new(kind).text = text; }

  // Values above the innermost mark only: the ones below are not to be touched.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Index pop() {
    if (stack_.size() <= floor()) damaged("the stack is empty");
    const Index index = stack_.back();
    stack_.pop_back();
    return index;
  }
  Index top() const {
    if (stack_.size() <= floor()) damaged("the stack is empty");
    return stack_.back();
  }
  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) damaged("a mark is missing");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Index> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  void charge(std::size_t bytes) {
    copied_ += bytes;
    if (copied_ > kMostCopied) damaged("too many copies of values");
  }
  void append(std::vector<Index>& items, std::span<const Index> more) {
    charge(more.size() * sizeof(Index));
    items.insert(items.end(), more.begin(), more.end());
  }
  void push_items(Kind kind, std::span<const Index> items) {
    if (kind == Kind::kDict && items.size() % 2 != 0) damaged("a key without a value");
    append(push_new(kind).items, items);
  }
  void push_tuple(std::size_t count) {
    if (stack_.size() - floor() < count) damaged("the stack is empty");
    const std::vector<Index> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    push_items(Kind::kTuple, items);
  }
  void store(std::uint64_t slot) {
    if (memo_.size() >= kMostValues) damaged("too many memos");
    memo_[slot] = top();
  }
  void recall(std::uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) damaged("an unknown memo is used");
    stack_.push_back(found->second);
  }

  // --- literals -------------------------------------------------------------------------------

  std::string_view line() {
    const std::size_t begin = reader_.position();
    std::size_t length = 0;
    for (; reader_.le<std::uint8_t>("pickled line") != '\n'; ++length) {
    }
    return base::as_text(bytes_from(begin, length));
  }
  std::span<const std::byte> bytes_from(std::size_t begin, std::size_t length) const {
    return reader_.bytes().subspan(begin, length);
  }
  std::string_view take_text(std::uint64_t length) {
    return base::as_text(reader_.take(length, "pickled text"));
  }
  void push_global(std::string_view module, std::string_view name) {
    charge(module.size() + name.size() + 1);
    push_text(Kind::kGlobal, fmt::format("{} {}", module, name));
  }
  std::int64_t decimal(std::string_view text) const {
    if (text.ends_with('L')) text.remove_suffix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) damaged("not a whole number");
    return number;
  }
  void push_decimal(std::string_view text) {
    if (text == "00" || text == "01") return push_number(Kind::kTruth, text == "01");
    push_number(Kind::kInteger, decimal(text));
  }
  // Two's complement of any length. A number beyond 64 bits is no shape; it stays an object.
  void push_long(std::uint64_t length) {
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

  // --- containers, objects --------------------------------------------------------------------

  void set_items(Index target, std::span<const Index> items) {
    const Kind kind = at(target).kind;
    if (items.size() % 2 != 0) damaged("a key without a value");
    if (kind != Kind::kDict && kind != Kind::kObject) damaged("keys set on something else");
    append(at(target).items, items);
  }
  void add_items(Index target, std::span<const Index> items) {
    const Kind kind = at(target).kind;
    if (kind == Kind::kObject) return;  // a list of its own class
    if (kind != Kind::kList) damaged("items added to something else");
    append(at(target).items, items);
  }

  void persistent(Index id) {
    const auto& items = at(id).items;
    const bool storage = at(id).kind == Kind::kTuple && items.size() >= 5 &&
                         at(items[0]).kind == Kind::kText && at(items[0]).text == "storage" &&
                         at(items[1]).kind == Kind::kGlobal && at(items[2]).kind == Kind::kText &&
                         at(items[4]).kind == Kind::kInteger;
    if (!storage) {
      push_new(Kind::kObject);
      return;
    }
    const Index parts[] = {items[1], items[2]};
    append(push_new(Kind::kStorage).items, parts);
  }

  std::vector<std::int64_t> integers(Index index) {
    const PickleValue& value = at(index);
    if (value.kind != Kind::kTuple && value.kind != Kind::kList) damaged("a shape is no tuple");
    if (value.items.size() > kLargestRank) damaged("a tensor has too many dimensions");
    charge(value.items.size() * sizeof(std::int64_t));
    std::vector<std::int64_t> numbers;
    for (const Index item : value.items) {
      if (at(item).kind != Kind::kInteger) damaged("a dimension is no number");
      numbers.push_back(at(item).number);
    }
    return numbers;
  }

  // torch._utils._rebuild_tensor{,_v2,_v3}(storage, offset, shape, stride, ...)
  void rebuild_tensor(const std::vector<Index>& arguments, bool with_dtype) {
    if (arguments.size() < (with_dtype ? 7 : 4)) damaged("a tensor lacks arguments");
    if (at(arguments[0]).kind != Kind::kStorage) damaged("a tensor has no storage");
    if (at(arguments[1]).kind != Kind::kInteger) damaged("a tensor has no offset");
    PickleValue tensor;
    tensor.kind = Kind::kTensor;
    tensor.number = at(arguments[1]).number;
    tensor.shape = integers(arguments[2]);
    tensor.stride = integers(arguments[3]);
    if (tensor.shape.size() != tensor.stride.size()) damaged("a tensor's strides don't fit");
    tensor.items = {arguments[0]};
    if (with_dtype) tensor.items.push_back(arguments[6]);
    push_new(Kind::kTensor) = std::move(tensor);
  }

  // OrderedDict(), OrderedDict(pairs), OrderedDict(dictionary)
  void make_dictionary(const std::vector<Index>& arguments) {
    std::vector<Index> items;
    if (!arguments.empty()) {
      const PickleValue& from = at(arguments[0]);
      if (from.kind == Kind::kDict) append(items, from.items);
      if (from.kind == Kind::kList || from.kind == Kind::kTuple) {
        for (const Index pair : from.items) {
          if (at(pair).items.size() != 2) damaged("a dictionary is made of no pairs");
          append(items, at(pair).items);
        }
      }
    }
    push_new(Kind::kDict).items = std::move(items);
  }

  // Pushes the result. Arguments are looked at where they are: copying them would let a short
  // program with one long tuple run for hours.
  void call(Index function, Index tuple) {
    if (at(function).kind == Kind::kGlobal &&
        is_torch(at(function).text, "_rebuild_from_type_v2") && at(tuple).kind == Kind::kTuple &&
        at(tuple).items.size() >= 3) {
      function = at(tuple).items[0];  // (function, class, its arguments, attributes)
      tuple = at(tuple).items[2];
    }
    if (at(function).kind != Kind::kGlobal || at(tuple).kind != Kind::kTuple) {
      push_new(Kind::kObject);
      return;
    }
    const std::string_view callee = at(function).text;
    const std::vector<Index>& arguments = at(tuple).items;
    if (callee == "collections OrderedDict") return make_dictionary(arguments);
    if (is_torch(callee, "_rebuild_tensor") || is_torch(callee, "_rebuild_tensor_v2"))
      return rebuild_tensor(arguments, false);
    if (is_torch(callee, "_rebuild_tensor_v3")) return rebuild_tensor(arguments, true);
    if ((is_torch(callee, "_rebuild_parameter") ||
         is_torch(callee, "_rebuild_parameter_with_state")) &&
        !arguments.empty()) {
      stack_.push_back(arguments[0]);
      return;
    }
    push_new(Kind::kObject);
  }

  void call_from_stack() {
    const Index arguments = pop();
    const Index function = pop();
    call(function, arguments);
  }

  void step(Opcode code);
  void step_literal(Opcode code);
  void step_container(Opcode code);
  void step_object(Opcode code);

  base::ByteReader reader_;
  const std::string& source_;
  Pickle pickle_;
  std::vector<Index> stack_;
  std::vector<std::size_t> marks_;  // stack heights
  std::map<std::uint64_t, Index> memo_;
  std::size_t copied_ = 0;
};

void Machine::step(Opcode code) {
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

void Machine::step_literal(Opcode code) {
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

void Machine::step_container(Opcode code) {
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

void Machine::step_object(Opcode code) {
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

}  // namespace

std::uint32_t Pickle::find(std::uint32_t dictionary, std::string_view key) const {
  const PickleValue& value = values[dictionary];
  if (value.kind != Kind::kDict && value.kind != Kind::kObject) return kMissing;
  for (std::size_t i = value.items.size(); i >= 2; i -= 2) {
    const PickleValue& candidate = values[value.items[i - 2]];
    if (candidate.kind == Kind::kText && candidate.text == key) return value.items[i - 1];
  }
  return kMissing;
}

Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& source) {
  return Machine(bytes, source).run();
}

}  // namespace diarist::model::detail
