// Runs a fuzz target without libFuzzer.
//   TARGET                       its seeds, every truncation of them, and mutations of them
//   TARGET --mutations N         the same with N mutations in all (default 4000)
//   TARGET --write-seeds FOLDER  writes the seeds, a start corpus for libFuzzer
//   TARGET FILE...               these inputs, e.g. a crash found elsewhere
// The mutations depend on nothing but N: a failure comes back in the next run. An input that ends
// the program is found again with FILE: it is kept in TARGET.last-input while it runs.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz.hpp"

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// Numbers at the edges of what lengths, offsets and counts are stored in.
constexpr std::array<std::uint64_t, 14> kEdges = {0,
                                                  1,
                                                  0x7f,
                                                  0x80,
                                                  0xff,
                                                  0xffff,
                                                  0x7fffffff,
                                                  0x80000000,
                                                  0xffffffff,
                                                  0xfffffffe,
                                                  0x100000000,
                                                  0x7fffffffffffffff,
                                                  0x8000000000000000,
                                                  0xffffffffffffffff};

void mutate_once(std::string& input, const std::string& other, Random& random) {
  const std::size_t at = below(random, input.size());
  switch (below(random, 8)) {
    case 0:  // one bit
      if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << below(random, 8)));
      break;
    case 1:  // one byte
      if (!input.empty()) input[at] = static_cast<char>(random());
      break;
    case 2: {  // an edge number of 1, 2, 4 or 8 bytes
      const std::uint64_t number = kEdges[below(random, kEdges.size())];
      const std::size_t width = std::size_t{1} << below(random, 4);
      for (std::size_t i = 0; i < width && at + i < input.size(); ++i)
        input[at + i] = static_cast<char>(number >> (8 * i));
      break;
    }
    case 3:  // leave something out
      input.erase(at, 1 + below(random, 16));
      break;
    case 4:  // say something twice
      input.insert(at, input.substr(at, 1 + below(random, 32)));
      break;
    case 5:  // noise in between
      for (std::size_t i = 0, n = 1 + below(random, 8); i < n; ++i)
        input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), static_cast<char>(random()));
      break;
    case 6: {  // a piece of another seed
      const std::size_t from = below(random, other.size());
      input.replace(at, 1 + below(random, 32), other.substr(from, 1 + below(random, 32)));
      break;
    }
    default:  // cut
      input.resize(at);
  }
}

int last_input = -1;  // stays open: closing a truncated file can wait for the disk, each time

void run(const std::string& input) {
  if (last_input >= 0) {
    const bool kept =
        pwrite(last_input, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()) &&
        ftruncate(last_input, static_cast<off_t>(input.size())) == 0;
    if (!kept) fmt::print(stderr, "the input can't be kept: {}\n", std::strerror(errno));
  }
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

int replay_seeds(std::size_t mutations) {
  const std::vector<std::string> seeds = diarist::fuzz::seeds();
  if (seeds.empty()) {
    fmt::print(stderr, "the target has no seeds\n");
    return 1;
  }
  std::size_t runs = 0;
  for (const std::string& seed : seeds) {
    // Every truncation of a small seed; about 2000 spread over a large one.
    const std::size_t step = 1 + seed.size() / 2000;
    for (std::size_t length = 0; length < seed.size(); length += step, ++runs)
      run(seed.substr(0, length));
    run(seed);
    ++runs;
  }
  Random random(20240229);
  for (std::size_t i = 0; i < mutations; ++i, ++runs) {
    std::string input = seeds[i % seeds.size()];
    const std::string& other = seeds[below(random, seeds.size())];
    for (std::size_t n = 1 + below(random, 4); n > 0; --n) mutate_once(input, other, random);
    run(input);
  }
  fmt::print("{} inputs from {} seeds\n", runs, seeds.size());
  return 0;
}

int write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<std::string> seeds = diarist::fuzz::seeds();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(folder / fmt::format("seed-{:03}", i), std::ios::binary);
    file.write(seeds[i].data(), static_cast<std::streamsize>(seeds[i].size()));
    if (!file.flush()) {
      fmt::print(stderr, "{}: can't be written\n", folder.string());
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--write-seeds") return write_seeds(arguments[1]);
  if (arguments.empty() || (arguments.size() == 2 && arguments[0] == "--mutations")) {
    const std::string file = std::string(argv[0]) + ".last-input";
    last_input = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const int result = replay_seeds(arguments.empty() ? 4000 : std::stoul(arguments[1]));
    std::filesystem::remove(file);
    return result;
  }
  for (const std::string& name : arguments) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      fmt::print(stderr, "{}: can't be opened\n", name);
      return 2;
    }
    run(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  return 0;
}
