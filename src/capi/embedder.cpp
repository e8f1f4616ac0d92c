#include "diarist/embedder.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "capi/engines.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "capi/run_control.hpp"

namespace diarist::capi {
namespace {

// What one of the two ways to give audio has to embed, and where to.
struct EmbedCall {
  std::shared_ptr<Embedder> embedder;
  std::vector<TimeSpan> spans;
  RunControl control;
};

EmbedCall check_call(diarist_embedder* embedder, const diarist_span* spans, std::size_t span_count,
                     const float* embeddings, std::size_t capacity, diarist_stop* stop) {
  EmbedCall call;
  call.embedder = Embedders::get(embedder);
  if (span_count > 0) not_null(spans, "spans");
  not_null(embeddings, "embeddings");
  const auto dim = static_cast<std::size_t>(call.embedder->dim());
  const std::size_t rows = std::max<std::size_t>(span_count, 1);
  if (capacity % dim != 0 || capacity / dim != rows)
    refuse("embeddings: room for " + std::to_string(capacity) + " numbers; " +
           std::to_string(rows) + " rows of " + std::to_string(dim) + " are needed");
  for (std::size_t i = 0; i < span_count; ++i)
    call.spans.push_back({.start = spans[i].start, .end = spans[i].end});
  call.control.stop = token_of(stop);
  return call;
}

}  // namespace
}  // namespace diarist::capi

using diarist::capi::check_call;
using diarist::capi::EmbedCall;
using diarist::capi::Embedders;
using diarist::capi::guarded;
using diarist::capi::not_null;

extern "C" {

diarist_status diarist_embedder_create(const diarist_embedder_options* options,
                                       diarist_embedder** embedder) {
  return guarded([&] {
    not_null(embedder, "embedder") = nullptr;
    *embedder =
        Embedders::add(std::make_shared<diarist::Embedder>(diarist::capi::options_of(options)));
  });
}

diarist_status diarist_embedder_destroy(diarist_embedder* embedder) {
  return guarded([&] { Embedders::drop(embedder); });
}

diarist_status diarist_embedder_dim(diarist_embedder* embedder, size_t* dim) {
  return guarded([&] {
    not_null(dim, "dim") = 0;
    *dim = static_cast<std::size_t>(Embedders::get(embedder)->dim());
  });
}

diarist_status diarist_embedder_embed_file(diarist_embedder* embedder, const char* path,
                                           const diarist_span* spans, size_t span_count,
                                           float* embeddings, size_t capacity, diarist_stop* stop) {
  return guarded([&] {
    const std::filesystem::path file(&not_null(path, "path"));
    const EmbedCall call = check_call(embedder, spans, span_count, embeddings, capacity, stop);
    const std::vector<float> rows = call.embedder->embed(file, call.spans, call.control);
    std::copy(rows.begin(), rows.end(), embeddings);
  });
}

diarist_status diarist_embedder_embed_audio(diarist_embedder* embedder, const diarist_audio* audio,
                                            const diarist_span* spans, size_t span_count,
                                            float* embeddings, size_t capacity,
                                            diarist_stop* stop) {
  return guarded([&] {
    const diarist::AudioView view = diarist::capi::audio_of(audio);
    const EmbedCall call = check_call(embedder, spans, span_count, embeddings, capacity, stop);
    const std::vector<float> rows = call.embedder->embed(view, call.spans, call.control);
    std::copy(rows.begin(), rows.end(), embeddings);
  });
}

}  // extern "C"
