// Runs fixed pieces of work, each once to warm up and once inside diarist_counted(), for a tool
// that counts the instructions of that function and writes its figure after every call
// (speed_gate.py). On standard output, as JSON: what was compiled how, and the names in the order
// of the calls.

#include <hwy/targets.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "backend/cpu/targets.hpp"
#include "diarist/error.hpp"
#include "work.hpp"

/// By this name the tool knows what to count.
extern "C" __attribute__((noinline)) void diarist_counted(const std::function<void()>& call) {
  call();
}

namespace diarist::bench {
namespace {

using Json = nlohmann::ordered_json;

#if defined(__x86_64__)
constexpr const char* kMachine = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kMachine = "aarch64";
#else
constexpr const char* kMachine = "unknown";
#endif

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

constexpr const char* kUsage =
    "usage: instruction_counts [--target SET] [--only REGEX]\n"
    "       instruction_counts --list\n";

/// From here on this process knows no other set, wherever the choice is made.
void force(const std::string& target) {
  hwy::SetSupportedTargetsForTest(backend::cpu::choose_target(target));
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

int run(const std::vector<std::string>& arguments) {
  std::string target;
  std::string only;
  bool list = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool more = i + 1 < arguments.size();
    if (arguments[i] == "--list") {
      list = true;
    } else if (arguments[i] == "--target" && more) {
      target = arguments[++i];
    } else if (arguments[i] == "--only" && more) {
      only = arguments[++i];
    } else {
      std::cerr << kUsage;
      return 2;
    }
  }
  Json json = {{"machine", kMachine},
               {"compiler", kCompiler},
               {"build", DIARIST_BENCH_BUILD},
               {"targets", backend::cpu::cpu_targets_supported()},
               {"work", Json::array()}};
  if (!target.empty()) force(target);
  const std::regex wanted(only);
  for (const std::vector<Work>& works : {block_work(), host_work()}) {
    for (const Work& work : works) {
      if (!only.empty() && !std::regex_search(work.name, wanted)) continue;
      if (!list) {
        const std::function<void()> call = work.prepare(target);
        call();
        diarist_counted(call);
      }
      json["work"].push_back(work.name);
    }
  }
  std::cout << json.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace diarist::bench

int main(int argc, char** argv) {
  try {
    return diarist::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "instruction_counts: " << error.what() << "\n";
    return 1;
  }
}
