#include "backend/cuda/choice/tune_file.hpp"

#include <kernel_set_hash.inc>  // made by kernel_set_hash.cmake

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.hpp"
#include "base/file.hpp"

namespace diarist::backend::cuda {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "diarist-tune";
constexpr int kFormatVersion = 1;
constexpr std::size_t kMaxEntries = 4096;
constexpr std::size_t kMaxText = 256;
constexpr std::int64_t kMaxSize = 1 << 20;  // of an axis, a batch, a variant

constexpr KernelId kKernels[] = {KernelId::kStemMma,  KernelId::kStemFfma, KernelId::kBlockWalk,
                                 KernelId::kConvWalk, KernelId::kConvDown, KernelId::kConvStride,
                                 KernelId::kConvTile, KernelId::kConvMma,  KernelId::kConvFfma,
                                 KernelId::kLibrary};
constexpr Mode kModes[] = {Mode::kExact, Mode::kFast, Mode::kTf32};

// Reads members of one object, with the file and the place in every complaint.
class Reader {
 public:
  Reader(const Json& object, std::string source, std::string place)
      : object_(object), source_(std::move(source)), place_(std::move(place)) {
    if (!object_.is_object()) bad("is not an object");
  }

  [[noreturn]] void bad(const std::string& what) const {
    base::fail(ErrorCode::kBadFile, "{}: {} {}; run diarist tune again", source_, place_, what);
  }

  const Json& member(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) bad(fmt::format("has no '{}'", key));
    return *found;
  }

  std::string text(const char* key) const {
    const Json& value = member(key);
    if (!value.is_string()) bad(fmt::format("has a '{}' that is not a text", key));
    std::string result = value.get<std::string>();
    if (result.empty() || result.size() > kMaxText)
      bad(fmt::format("has a '{}' of {} bytes", key, result.size()));
    return result;
  }

  int number(const char* key, std::int64_t least, std::int64_t most) const {
    const Json& value = member(key);
    if (!value.is_number_integer()) bad(fmt::format("has a '{}' that is not an integer", key));
    const bool huge = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxSize);
    const std::int64_t result = huge ? kMaxSize + 1 : value.get<std::int64_t>();
    if (result < least || result > most)
      bad(fmt::format("has a '{}' outside {} to {}", key, least, most));
    return static_cast<int>(result);
  }

  bool flag(const char* key) const {
    const Json& value = member(key);
    if (!value.is_boolean()) bad(fmt::format("has a '{}' that is not true or false", key));
    return value.get<bool>();
  }

  double milliseconds(const char* key) const {
    const Json& value = member(key);
    if (!value.is_number()) bad(fmt::format("has a '{}' that is not a number", key));
    const double result = value.get<double>();
    if (!(result > 0 && result < 1e6)) bad(fmt::format("has a '{}' of {}", key, result));
    return result;
  }

  template <typename T, std::size_t kCount>
  T named(const char* key, const T (&values)[kCount], const char* (*name)(T) noexcept) const {
    const std::string wanted = text(key);
    for (const T value : values)
      if (wanted == name(value)) return value;
    bad(fmt::format("has a '{}' that is not known", key));
  }

 private:
  const Json& object_;
  std::string source_, place_;
};

// A total order of entries: shape and mode, then the batch.
auto shape_key(const TuneEntry& e) {
  return std::make_tuple(static_cast<int>(e.mode), e.shape.cin, e.shape.cout, e.shape.taps,
                         e.shape.stride_f, e.shape.stride_t, e.shape.frequency, e.shape.time,
                         e.shape.residual);
}

TuneEntry entry_of(const Reader& reader) {
  TuneEntry entry;
  entry.shape.cin = reader.number("cin", 1, kMaxSize);
  entry.shape.cout = reader.number("cout", 1, kMaxSize);
  entry.shape.taps = reader.number("taps", 1, 9);
  if (entry.shape.taps != 1 && entry.shape.taps != 9) reader.bad("has 'taps' other than 1 and 9");
  entry.shape.stride_f = reader.number("stride_frequency", 1, 2);
  entry.shape.stride_t = reader.number("stride_time", 1, 2);
  entry.shape.frequency = reader.number("frequency", 1, kMaxSize);
  entry.shape.time = reader.number("time", 1, kMaxSize);
  entry.shape.residual = reader.flag("residual");
  entry.mode = reader.named("mode", kModes, mode_name);
  entry.items = reader.number("batch", 1, kMaxSize);
  entry.kernel = reader.named("kernel", kKernels, kernel_name);
  entry.variant = reader.number("variant", 0, kMaxSize);
  entry.milliseconds = reader.milliseconds("ms");
  return entry;
}

void check_consistent(const TuneFile& file, const Reader& root) {
  std::map<decltype(shape_key(file.entries[0])), std::map<int, KernelId>> seen;
  for (const TuneEntry& entry : file.entries) {
    std::map<int, KernelId>& batches = seen[shape_key(entry)];
    if (!batches.emplace(entry.items, entry.kernel).second)
      root.bad("has two entries for " + entry_text(entry));
    if (batches.begin()->second != entry.kernel)
      root.bad(
          fmt::format("has two kernels for {} in {} mode, so results would depend on the batch",
                      shape_text(entry.shape), mode_name(entry.mode)));
  }
}

}  // namespace

const char* kernel_set_hash() noexcept { return DIARIST_KERNEL_SET_HASH; }

TuneFile parse_tune_file(std::string_view text, const std::string& source) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded())
    base::fail(ErrorCode::kBadFile, "{}: not JSON; run diarist tune again", source);
  const Reader reader(root, source, "the file");
  if (reader.text("format") != kFormat) reader.bad("is not a diarist tune file");
  const int version = reader.number("format_version", 0, kMaxSize);
  if (version != kFormatVersion)
    reader.bad(fmt::format("has format version {}, this build reads {}", version, kFormatVersion));
  TuneFile file;
  file.identity.device = reader.text("device");
  file.identity.architecture = reader.number("architecture", 1, 10000);
  file.identity.multiprocessors = reader.number("multiprocessors", 1, kMaxSize);
  file.identity.driver = reader.text("driver");
  file.identity.kernel_set = reader.text("kernel_set");
  const Json& entries = reader.member("entries");
  if (!entries.is_array() || entries.empty() || entries.size() > kMaxEntries)
    reader.bad("has no list of 1 to 4096 entries");
  for (std::size_t i = 0; i < entries.size(); ++i)
    file.entries.push_back(entry_of(Reader(entries[i], source, fmt::format("entry {}", i + 1))));
  check_consistent(file, reader);
  return file;
}

void check_tune_file(const TuneFile& file, const TuneIdentity& identity, const DeviceFacts& device,
                     const std::string& source) {
  const auto compare = [&](const char* what, const auto& is, const auto& wanted) {
    if (is == wanted) return;
    base::fail(ErrorCode::kInvalidArgument,
               "{}: measured with {} {}, this is {}; leave the file out or run diarist tune again",
               source, what, is, wanted);
  };
  compare("device", file.identity.device, identity.device);
  compare("architecture", file.identity.architecture, identity.architecture);
  compare("multiprocessors:", file.identity.multiprocessors, identity.multiprocessors);
  compare("driver", file.identity.driver, identity.driver);
  compare("kernel set", file.identity.kernel_set, identity.kernel_set);
  for (const TuneEntry& entry : file.entries) {
    std::string problem = why_not(device, entry.kernel, entry.shape, entry.mode);
    if (problem.empty() && entry.kernel == KernelId::kLibrary && entry.mode == Mode::kExact)
      problem = "keeps FP32 maps, which the other exact kernels don't read";
    if (problem.empty()) {
      const std::vector<int> known = variants(device, entry.kernel, entry.shape, entry.mode);
      if (std::find(known.begin(), known.end(), entry.variant) == known.end())
        problem = fmt::format("has no variant {} for this shape", entry.variant);
    }
    if (!problem.empty())
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: {}: {} {}; leave the file out or run diarist tune again", source,
                 entry_text(entry), kernel_name(entry.kernel), problem);
  }
}

TuneFile load_tune_file(const std::filesystem::path& file, const TuneIdentity& identity,
                        const DeviceFacts& device) {
  TuneFile loaded = parse_tune_file(base::read_text(file), file.string());
  check_tune_file(loaded, identity, device, file.string());
  return loaded;
}

std::string to_json_text(const TuneFile& file) {
  Json root;
  root["format"] = kFormat;
  root["format_version"] = kFormatVersion;
  root["device"] = file.identity.device;
  root["architecture"] = file.identity.architecture;
  root["multiprocessors"] = file.identity.multiprocessors;
  root["driver"] = file.identity.driver;
  root["kernel_set"] = file.identity.kernel_set;
  std::vector<TuneEntry> sorted = file.entries;
  std::sort(sorted.begin(), sorted.end(), [](const TuneEntry& a, const TuneEntry& b) {
    return std::make_pair(shape_key(a), a.items) < std::make_pair(shape_key(b), b.items);
  });
  Json& entries = root["entries"] = Json::array();
  for (const TuneEntry& entry : sorted) {
    Json object;
    object["mode"] = mode_name(entry.mode);
    object["cin"] = entry.shape.cin;
    object["cout"] = entry.shape.cout;
    object["taps"] = entry.shape.taps;
    object["stride_frequency"] = entry.shape.stride_f;
    object["stride_time"] = entry.shape.stride_t;
    object["frequency"] = entry.shape.frequency;
    object["time"] = entry.shape.time;
    object["residual"] = entry.shape.residual;
    object["batch"] = entry.items;
    object["kernel"] = kernel_name(entry.kernel);
    object["variant"] = entry.variant;
    object["ms"] = entry.milliseconds;
    entries.push_back(std::move(object));
  }
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_tune_file(const TuneFile& file, const std::filesystem::path& target) {
  base::write_atomic(target, std::string_view(to_json_text(file)));
}

std::string entry_text(const TuneEntry& entry) {
  return fmt::format("{}: {}, {}, batch {}, {:.4f} ms", shape_text(entry.shape),
                     variant_name(entry.kernel, entry.variant), mode_name(entry.mode), entry.items,
                     entry.milliseconds);
}

}  // namespace diarist::backend::cuda
