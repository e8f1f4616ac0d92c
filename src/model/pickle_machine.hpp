#pragma once
// The stack machine behind parse_pickle: its state, and the checks every opcode leans on.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"
#include "model/pickle.hpp"
#include "model/pickle_opcodes.hpp"

namespace diarist::model::detail {

class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, const std::string& source)
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
  using Kind = PickleValue::Kind;
  using Index = std::uint32_t;

  static constexpr std::size_t kMostValues = 1'000'000;
  // Bytes of references, shapes and names. A short program can copy a large value again and again;
  // this bounds it.
  static constexpr std::size_t kMostCopied = std::size_t{64} << 20;

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

  // --- literals (pickle.cpp) --------------------------------------------------------------------

  std::string_view line();
  std::string_view take_text(std::uint64_t length);
  void push_global(std::string_view module, std::string_view name);
  std::int64_t decimal(std::string_view text) const;
  void push_decimal(std::string_view text);
  void push_long(std::uint64_t length);

  // --- containers, objects, calls (pickle_calls.cpp) --------------------------------------------

  void set_items(Index target, std::span<const Index> items);
  void add_items(Index target, std::span<const Index> items);
  void persistent(Index id);
  std::vector<std::int64_t> integers(Index index);
  void rebuild_tensor(const std::vector<Index>& arguments, bool with_dtype);
  void make_dictionary(const std::vector<Index>& arguments);
  void call(Index function, Index tuple);
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

}  // namespace diarist::model::detail
