#pragma once
// A reader of Python pickles that runs nothing: a small stack machine over typed values.
//
// torch stores a state dict as a pickle. A pickle is a program: its GLOBAL and REDUCE opcodes name
// functions and call them. Here a name stays a name, and a call is carried out only for the few
// functions in PickleMachine::call, which build tensors, parameters and ordered
// dictionaries out of values. Every other class or call becomes an inert Kind::kObject.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::model::detail {

/// A value of a pickle; values are referred to by their index in Pickle::values, so the graph may
/// share and may even contain itself, and nothing here recurses.
struct PickleValue {
  enum class Kind : std::uint8_t {
    kNone,
    kTruth,    // number
    kInteger,  // number
    kReal,     // real
    kText,     // text, UTF-8 as it lies in the file
    kBytes,    // text
    kTuple,    // items
    kList,     // items; sets too
    kDict,     // items: key, value, key, value, ...; keys may repeat, the last one counts
    kGlobal,   // text: "module name"
    kObject,   // of some class; items: what was set by key, as in a dictionary
    kStorage,  // items: {type global, key text}
    kTensor,   // items: {storage} or {storage, dtype global}; shape, stride, number: offset
  };
  Kind kind = Kind::kNone;
  double real = 0;
  std::int64_t number = 0;
  std::string text;
  std::vector<std::uint32_t> items;
  std::vector<std::int64_t> shape, stride;  // in elements
};

struct Pickle {
  std::vector<PickleValue> values;
  std::uint32_t root = 0;

  static constexpr std::uint32_t kMissing = std::numeric_limits<std::uint32_t>::max();
  /// The value under a text key of a dictionary or object, or kMissing.
  std::uint32_t find(std::uint32_t dictionary, std::string_view key) const;
};

/// Protocols 0 to 5. \throws Error kBadFile: truncated, stack misuse, an opcode with no meaning
/// here, more than a million values.
Pickle parse_pickle(std::span<const std::byte> bytes, const std::string& source);

}  // namespace diarist::model::detail
