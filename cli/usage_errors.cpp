#include "usage_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "output_files.hpp"
#include "settings.hpp"
#include "suggestions.hpp"
#include "verb_pages.hpp"

namespace diarist::cli {
namespace {

struct Place {
  const VerbPage* page;
  std::size_t next;  // index of the first word behind the verb
};

// Follows the words of the verb as far as they are known.
Place place_of(const VerbPage& root, const std::vector<std::string>& words) {
  Place place{&root, 0};
  for (std::size_t i = 0; i < words.size() && !place.page->verbs.empty(); ++i) {
    if (words[i].starts_with('-')) continue;
    const auto& verbs = place.page->verbs;
    const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const VerbPage& verb) {
      return verb.path.back() == words[i];
    });
    if (found == verbs.end()) break;
    place = {&*found, i + 1};
  }
  return place;
}

// The first option behind the verb that it does not know, and what it may have meant.
std::string unknown_option(const Place& place, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const OptionPage& option : place.page->options)
    known.insert(known.end(), option.names.begin(), option.names.end());
  for (std::size_t i = place.next; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (word.size() < 3 || !word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("unknown option {}{}", name, did_you_mean(name, known));
  }
  return {};
}

std::string unknown_verb(const Place& place, const std::vector<std::string>& words) {
  if (place.page->verbs.empty()) return {};
  std::vector<std::string> known;
  for (const VerbPage& verb : place.page->verbs)
    if (!verb.hidden) known.push_back(verb.path.back());
  for (std::size_t i = place.next; i < words.size(); ++i)
    if (!words[i].starts_with('-'))
      return fmt::format("unknown verb '{}'{}", words[i], did_you_mean(words[i], known));
  return fmt::format("a verb is missing: {}", fmt::join(known, ", "));
}

}  // namespace

std::string usage_error(CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& words) {
  const VerbPage root = read_pages(app);
  const Place place = place_of(root, words);
  std::string text;
  const int kind = error.get_exit_code();
  if (kind == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
      kind == static_cast<int>(CLI::ExitCodes::RequiredError)) {
    text = unknown_option(place, words);
    if (text.empty()) text = unknown_verb(place, words);
  }
  if (text.empty()) text = error.what() + origin_note(error.what());
  return fmt::format("{}; see {} --help", one_line(text), place.page->command());
}

}  // namespace diarist::cli
