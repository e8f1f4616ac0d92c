#include "output/json_text.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "output/number_text.hpp"

namespace diarist::output {

std::string json_string(std::string_view text) {
  using nlohmann::json;
  return json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_three_decimals(double value) {
  return std::isfinite(value) ? three_decimals(value) : "null";
}

std::string json_list(const std::vector<std::string>& items, int indent) {
  if (items.empty()) return "[]";
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + margin + items[i];
  }
  return text + "\n" + margin + "]";
}

}  // namespace diarist::output
