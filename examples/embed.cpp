// Are two recordings of the same voice? Embeddings without any diarization.

#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "diarist/embedder.hpp"
#include "diarist/error.hpp"

namespace {

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: embed RECORDING RECORDING\n"), 2;

  const diarist::Embedder embedder({.preset = "open"});
  const std::vector<float> a = embedder.embed(argv[1]);
  const std::vector<float> b = embedder.embed(argv[2]);

  std::printf("%d numbers each, cosine %.4f\n", embedder.dim(),
              dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)));
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "embed: %s\n", error.what());
  return 1;
}
