// What a pickle may ask for: containers, tensors and their storages, and nothing else.

#include "model/pickle_machine.hpp"

namespace diarist::model::detail {
namespace {

constexpr std::size_t kLargestRank = 64;

bool is_torch(std::string_view global, std::string_view name) {
  return global.starts_with("torch") && global.ends_with(name) && global.size() > name.size() &&
         global[global.size() - name.size() - 1] == ' ';
}

}  // namespace

void PickleMachine::set_items(Index target, std::span<const Index> items) {
  const Kind kind = at(target).kind;
  if (items.size() % 2 != 0) damaged("a key without a value");
  if (kind != Kind::kDict && kind != Kind::kObject) damaged("keys set on something else");
  append(at(target).items, items);
}

void PickleMachine::add_items(Index target, std::span<const Index> items) {
  const Kind kind = at(target).kind;
  if (kind == Kind::kObject) return;  // a list of its own class
  if (kind != Kind::kList) damaged("items added to something else");
  append(at(target).items, items);
}

void PickleMachine::persistent(Index id) {
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

std::vector<std::int64_t> PickleMachine::integers(Index index) {
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
void PickleMachine::rebuild_tensor(const std::vector<Index>& arguments, bool with_dtype) {
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
void PickleMachine::make_dictionary(const std::vector<Index>& arguments) {
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
void PickleMachine::call(Index function, Index tuple) {
  if (at(function).kind == Kind::kGlobal && is_torch(at(function).text, "_rebuild_from_type_v2") &&
      at(tuple).kind == Kind::kTuple && at(tuple).items.size() >= 3) {
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

}  // namespace diarist::model::detail
