#include "model/known_weights.hpp"

#include <array>
#include <span>
#include <vector>

#include "base/sha256.hpp"

namespace diarist {

const char* trust_name(Trust trust) noexcept {
  switch (trust) {
    case Trust::kKnownHash:
      return "known hash";
    case Trust::kFingerprint:
      return "fingerprint only";
    case Trust::kUnknown:
      return "unknown";
    case Trust::kTestWeights:
      return "test weights";
  }
  return "unknown";
}

}  // namespace diarist

namespace diarist::model {
namespace {

constexpr const char* kSegmentationSource = "pyannote/segmentation-3.0";
constexpr const char* kCampplusSource = "3D-Speaker CAM++ zh_en_16k-common_advanced";
constexpr const char* kPldaSource = "pyannote/speaker-diarization-community-1";
constexpr const char* kStandinSource = "diarist's stand-in for tests";

// Folding works in double without contraction and writes tensors sorted by name, so a known source
// always gives the same folded file; tests/unit/bundle checks these pairs. If folding ever changes
// on purpose, the folded hashes below change with it (older bundles then show "fingerprint only").
constexpr std::array kKnownFiles = {
    // Published files.
    KnownFile{"da85c29829d4002daedd676e012936488234d9255e65e86dfab9bec6b1729298", "pyannet",
              kSegmentationSource, "MIT", Trust::kKnownHash},
    KnownFile{"92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199", "campplus",
              kCampplusSource, "Apache-2.0", Trust::kKnownHash},
    KnownFile{"9b77bcd840692710dd3496f62ecfeed8d8e5f002fd991b785079b244eab7d255", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    KnownFile{"325f1ce8e48f7e55e9c8aa47e05d2766b7c48c4b25b8de8dd751e7a4cc5fbe8f", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    // The six arrays of those two archives, as mirrors offer them one by one.
    KnownFile{"e424c0c352182aa8e0f555dec1f3b30e29a20b9ed6b25d339f112af92e51e36f", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    KnownFile{"e20c9b012bebd1aabda5a38a127e63a43cf35debdc502715fc143e2fb6bc3c4b", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    KnownFile{"6f6fb708a2037197b5b84ffeaa8f140cb878088fbecd6ab042ad26a7691bd2cf", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    KnownFile{"d286d48acf99bbc1ed1502fed0a3e361ae5626ce1870c8be9f7397c5e47886c6", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    KnownFile{"e700b68cb319de3fafb5fa093eb9222c23c447084741f8d3a533640d425510ee", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    KnownFile{"d7128c9ed2f28a9781971805131129f077c04f948e2df12e52dcdb99f2b4e5f5", "plda",
              kPldaSource, "CC-BY-4.0", Trust::kKnownHash},
    // What diarist makes of the two networks above.
    KnownFile{"f06de51c0f9623b24ab30f844fff365f5e30fcfa267c2992997ef9da4dfcf48d", "pyannet",
              kSegmentationSource, "MIT", Trust::kKnownHash},
    KnownFile{"95be7893193661900acb1b3991005a34681b8ac05c6cedf70815c092808ee7d5", "campplus",
              kCampplusSource, "Apache-2.0", Trust::kKnownHash},
    // Test weights.
    KnownFile{"4b344bdf66726219c8baebae70460f910513b4dbda3b40f892d2de0418c359a2",
              "wespeaker-resnet34", kStandinSource, "test weights", Trust::kTestWeights},
};

// A tensor that folding leaves as it was, or changes in a known way.
struct Fingerprint {
  const char* kind;
  const char* tensor;
  const char* sha256;  // tensor_hash()
};

// All rows of a kind must match.
constexpr std::array kPublished = {
    Fingerprint{"pyannet", "sincnet.conv1d.1.weight",
                "518264b9586f18ca0f74c2505f4cd32a3d36262be9c25002e4cd9e8319f7d6b2"},
    Fingerprint{"pyannet", "lstm.weight_hh_l3",
                "260fcd21242b03c243299d600dc87ccabce0e897387bb79ff2df1da2b27dc860"},
    Fingerprint{"pyannet", "linear.0.weight",
                "3ffb3087c8e17fb83874abb9eb70b9945f58d72e6039086deffe19c655404055"},
    Fingerprint{"pyannet", "classifier.bias",
                "60635027dcf66deb9da729f5caf7a24d1cf5d70c672599432937d8d4904823d6"},
    Fingerprint{"wespeaker-resnet34", "resnet.seg_1.bias",
                "afd4639ae9aa1b98c3f75f7a1190be76fb63a579389865389fc0c4418afd0593"},
    Fingerprint{"campplus", "xvector.block1.tdnnd1.cam_layer.linear_local.weight",
                "53eecbfd32e9e5d630d084550b6f34d5f5b7504fb3ff012a3253d6c5c8cdf7a0"},
    Fingerprint{"campplus", "xvector.block3.tdnnd16.cam_layer.linear_local.weight",
                "0f72e506a6bc3c1c1318e1d886261381dc01a6f698f5036797161830782c5c9f"},
};

// One row is enough: the stand-in carries the true head bias, so its own numbers are asked first.
constexpr std::array kTest = {
    Fingerprint{"wespeaker-resnet34", "resnet.seg_1.weight",
                "7088175c598d5288fb55fa4b728c9821b0523e02cd576e78253ad2bd697eb6c2"},
};

bool matches(const Fingerprint& fingerprint, const Weights& weights) {
  const auto found = weights.find(fingerprint.tensor);
  return found != weights.end() && tensor_hash(found->second) == fingerprint.sha256;
}

}  // namespace

const KnownFile* find_known_file(const std::string& sha256) {
  for (const KnownFile& file : kKnownFiles) {
    if (sha256 == file.sha256) return &file;
  }
  return nullptr;
}

std::string tensor_hash(const base::TensorF& tensor) {
  static_assert(sizeof(float) == 4);
  return base::sha256_hex(std::as_bytes(tensor.values()));  // little-endian hosts only
}

Trust judge_weights(const std::string& kind, const Weights& weights) {
  for (const Fingerprint& fingerprint : kTest) {
    if (kind == fingerprint.kind && matches(fingerprint, weights)) return Trust::kTestWeights;
  }
  bool any = false;
  for (const Fingerprint& fingerprint : kPublished) {
    if (kind != fingerprint.kind) continue;
    if (!matches(fingerprint, weights)) return Trust::kUnknown;
    any = true;
  }
  return any ? Trust::kFingerprint : Trust::kUnknown;
}

const char* published_licence(const std::string& kind) noexcept {
  if (kind == "pyannet") return "MIT";
  if (kind == "campplus") return "Apache-2.0";
  if (kind == "wespeaker-resnet34" || kind == "plda") return "CC-BY-4.0";
  return "unknown";
}

}  // namespace diarist::model
