#include <memory>
#include <utility>

#include "stages.hpp"
#include "work.hpp"

namespace diarist::bench {
namespace {

/// Work whose instruction set is chosen by the process.
Work work(std::string name, std::function<Call()> prepare) {
  return {std::move(name),
          [prepare = std::move(prepare)](const std::string&) { return prepare(); }};
}

Talk talk(int chunks, int speakers, int dim) {
  return std::make_shared<const Conversation>(conversation(chunks, speakers, dim));
}

}  // namespace

std::vector<Work> host_work() {
  using cluster::Method;
  return {
      work("WAV reader, 10 s of stereo", [] { return read_wav(10, 2, 48000); }),
      work("reference resampler, 1 s", [] { return resample(1, 44100, true); }),
      work("classes to masks, 120 windows", [] { return find_activity(talk(120, 4, 16)); }),
      work("windows to turns, 120 windows", [] { return make_turns(talk(120, 4, 16)); }),
      work("linkage, 170 windows", [] { return link(talk(170, 4, 192)); }),
      work("VBx, 200 windows, 5 iterations", [] { return run_vbx(talk(200, 6, 128), 128, 5); }),
      work("clustering of open, 50 windows",
           [] { return find_speakers(talk(50, 4, 192), Method::kVbxIsotropic); }),
      work("clustering of community-1, 50 windows",
           [] { return find_speakers(talk(50, 4, 256), Method::kVbxPlda); }),
      work("clustering of pyannote-3.1, 100 windows",
           [] { return find_speakers(talk(100, 4, 192), Method::kAgglomerative); }),
      work("all formats, 300 windows", [] { return write_formats(talk(300, 4, 192)); }),
  };
}

}  // namespace diarist::bench
