#include "settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "diarist/error.hpp"
#include "manners.hpp"
#include "suggestions.hpp"

namespace diarist::cli {
namespace {

void collect_keys(const VerbPage& page, std::vector<std::string>& keys) {
  for (const OptionPage& option : page.options)
    if (option.configurable) keys.push_back(option.key);
  for (const VerbPage& verb : page.verbs)
    if (!verb.hidden) collect_keys(verb, keys);
}

void check_entry(const VerbPage& root, const ConfigEntry& entry, const std::string& file) {
  const auto refuse = [&](const std::string& text) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}:{}: {}", file, entry.line, text));
  };
  const VerbPage* page = &root;
  for (const std::string& name : entry.section) {
    std::vector<std::string> names;
    const VerbPage* below = nullptr;
    for (const VerbPage& verb : page->verbs) {
      if (verb.hidden) continue;
      names.push_back(verb.path.back());
      if (names.back() == name) below = &verb;
    }
    if (below == nullptr)
      refuse(fmt::format("unknown section [{}]{}", fmt::join(entry.section, "."),
                         did_you_mean(name, names)));
    page = below;
  }
  if (entry.key.empty()) return;
  std::vector<std::string> keys;
  collect_keys(*page, keys);
  if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) return;
  const std::string place =
      entry.section.empty() ? "" : fmt::format(" in [{}]", fmt::join(entry.section, "."));
  refuse(fmt::format("unknown key {}{}{}", entry.key, place, did_you_mean(entry.key, keys)));
}

// What a flag takes from a text.
std::optional<bool> truth_of(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr auto kYes = std::to_array<const char*>({"1", "true", "yes", "on"});
  constexpr auto kNo = std::to_array<const char*>({"0", "false", "no", "off", ""});
  if (std::find(kYes.begin(), kYes.end(), text) != kYes.end()) return true;
  if (std::find(kNo.begin(), kNo.end(), text) != kNo.end()) return false;
  return std::nullopt;
}

// Options whose meaning depends on each other: a higher rank that gives one speaks for all.
bool same_family(const std::string& a, const std::string& b) {
  static const std::set<std::string> kSpeakers = {"num-speakers", "min-speakers", "max-speakers"};
  return kSpeakers.count(a) > 0 && kSpeakers.count(b) > 0;
}

// "--device" -> where its value was found.
std::map<std::string, std::string>& origins() {
  static std::map<std::string, std::string> shared;
  return shared;
}

/// Fills in what one verb was not told on the command line.
class Filler {
 public:
  Filler(const VerbPage& verb, const Settings& settings) : verb_(verb), settings_(settings) {}

  void fill() {
    pass([&](const OptionPage& option) { return settings_.from_environment(option); });
    pass([&](const OptionPage& option) { return settings_.from_file(verb_, option); });
  }

 private:
  template <typename Look>
  void pass(Look look) {
    std::set<const CLI::Option*> before;
    for (const OptionPage& option : verb_.options)
      if (option.option->count() > 0) before.insert(option.option);
    for (const OptionPage& option : verb_.options) {
      if (!option.configurable || decided(option, before)) continue;
      if (std::optional<Setting> setting = look(option)) put(option, *setting);
    }
  }

  // A higher rank has said something about it.
  bool decided(const OptionPage& option, const std::set<const CLI::Option*>& before) const {
    if (before.count(option.option) > 0 || switched_off_.count(option.option) > 0) return true;
    for (const CLI::Option* other : option.option->get_excludes())
      if (before.count(other) > 0) return true;
    for (const OptionPage& other : verb_.options)
      if (before.count(other.option) > 0 && same_family(option.key, other.key)) return true;
    return one_of_group_given(option, before);
  }

  // Of a group that allows one option, one was given.
  bool one_of_group_given(const OptionPage& option,
                          const std::set<const CLI::Option*>& before) const {
    for (CLI::App* group :
         verb_.app->get_subcommands([](CLI::App* sub) { return sub->get_name().empty(); })) {
      const std::vector<CLI::Option*> members = group->get_options();
      if (group->get_require_option_max() != 1 ||
          std::find(members.begin(), members.end(), option.option) == members.end())
        continue;
      for (const CLI::Option* member : members)
        if (before.count(member) > 0) return true;
    }
    return false;
  }

  void put(const OptionPage& option, const Setting& setting) {
    if (option.flag()) {
      const std::optional<bool> truth =
          setting.values.size() == 1 ? truth_of(setting.values.front()) : std::nullopt;
      if (!truth)
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("{}: {} must be true or false, not '{}'", setting.origin,
                                option.key, fmt::join(setting.values, ", ")));
      if (*truth)
        option.option->add_result("true");
      else
        switched_off_.insert(option.option);
    } else {
      for (const std::string& value : setting.values) option.option->add_result(value);
    }
    for (const std::string& name : option.names) origins()[name] = setting.origin;
  }

  const VerbPage& verb_;
  const Settings& settings_;
  std::set<const CLI::Option*> switched_off_;
};

/// CLI11 asks it for a configuration file after the command line and before the callbacks.
class SettingsSource : public CLI::Config {
 public:
  explicit SettingsSource(CLI::App& app) : app_(app) {}
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }
  std::vector<CLI::ConfigItem> from_config(std::istream&) const override {
    const VerbPage root = read_pages(app_);
    const VerbPage* verb = &root;
    for (bool deeper = true; deeper;) {
      if (verb->app->get_help_ptr() != nullptr && verb->app->get_help_ptr()->count() > 0) return {};
      deeper = false;
      for (const VerbPage& below : verb->verbs) {
        if (below.app->count_all() == 0 && !below.app->parsed()) continue;
        if (!below.app->parsed()) continue;
        verb = &below;
        deeper = true;
        break;
      }
    }
    if (verb == &root || verb->hidden || !verb->verbs.empty()) return {};
    const CLI::Option* config = verb->app->get_option_no_throw("--config");
    if (config == nullptr) return {};
    const std::string wished = config->count() > 0 ? config->results().front() : std::string();
    if (config->count() > 0 && wished.empty()) return {};  // --config "": none
    Filler(*verb, Settings(root, wished)).fill();
    return {};
  }

 private:
  CLI::App& app_;
};

}  // namespace

Settings::Settings(const VerbPage& root, const std::string& wished) {
  std::filesystem::path file = wished;
  bool named = !wished.empty();
  if (!named) {
    if (const char* variable = std::getenv("DIARIST_CONFIG")) {
      if (*variable == '\0') return;
      file = variable;
      named = true;
    } else {
      file = default_config_file();
    }
  }
  std::error_code error;
  if (file.empty() || (!named && !std::filesystem::exists(file, error))) return;
  entries_ = read_config(file);
  file_ = file;
  // The top of the file by another name: TOML has no place for a key `models` beside [models.pull].
  for (ConfigEntry& entry : entries_)
    if (entry.section == std::vector<std::string>{"all"}) entry.section.clear();
  for (const ConfigEntry& entry : entries_) check_entry(root, entry, file.string());
}

std::optional<Setting> Settings::of(const VerbPage& verb, const OptionPage& option) const {
  std::optional<Setting> setting = from_environment(option);
  return setting ? setting : from_file(verb, option);
}

std::optional<Setting> Settings::from_environment(const OptionPage& option) const {
  if (option.own) return std::nullopt;
  const std::string variable = variable_of(option.key);
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return Setting{{value}, variable};
}

std::optional<Setting> Settings::from_file(const VerbPage& verb, const OptionPage& option) const {
  const ConfigEntry* best = nullptr;
  for (const ConfigEntry& entry : entries_) {
    if (entry.key != option.key || entry.section.size() > verb.path.size() ||
        !std::equal(entry.section.begin(), entry.section.end(), verb.path.begin()))
      continue;
    if (option.own && entry.section.size() < verb.path.size()) continue;
    if (best == nullptr || entry.section.size() > best->section.size()) best = &entry;
  }
  if (best == nullptr) return std::nullopt;
  return Setting{best->values, fmt::format("{}:{}", file_.string(), best->line)};
}

std::string variable_of(const std::string& key) {
  std::string name = "DIARIST_";
  for (const char c : key)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void use_settings(CLI::App& app) {
  // CLI11's own way ranks a configuration file above the environment and does not know lines. It
  // calls its reader at the right moment, though, once it has a file that can be opened.
  app.config_formatter(std::make_shared<SettingsSource>(app));
  app.set_config("--settings", "/dev/null")->group("");
}

std::string origin_note(const std::string& message) {
  // "--format: ...", "-q,--quiet: ...", "Could not convert: --threads = many"
  std::string word;
  for (const char c : message + " ") {
    if (c != ' ' && c != ':' && c != ',' && c != '=') {
      word += c;
      continue;
    }
    const auto found = origins().find(word);
    if (found != origins().end()) return fmt::format(" (from {})", found->second);
    word.clear();
  }
  return {};
}

}  // namespace diarist::cli
