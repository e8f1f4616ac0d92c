#pragma once
// CAM++'s weights on one device, in the order in which the kernels read them.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "backend/cuda/campplus/campplus_parts.hpp"
#include "backend/cuda/kernels/campplus/frames.hpp"
#include "backend/cuda/kernels/campplus/map_conv.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda::campplus {

struct DenseLayerWeights {
  Affine affine = nullptr;
  PackedProduct reduce;
  const void* local = nullptr;
  float local_unscale = 1;
  GateWeights gates;
};

struct TransitWeights {
  Affine affine = nullptr;
  PackedProduct product;
  int columns = 0, outputs = 0;
};

/// Blobs that reach the device in one copy; pointers to them are set when they are there.
class WeightStore {
 public:
  /// \param field set by finish(); must not move until then.
  template <typename Field, typename T>
  void add(Field& field, std::span<const T> values) {
    add_bytes(&field, std::as_bytes(values));
  }
  void finish(int device);
  std::size_t bytes() const noexcept { return memory_.bytes(); }

 private:
  struct Place {
    void* field;
    std::size_t offset;
  };
  void add_bytes(void* field, std::span<const std::byte> bytes);

  std::vector<std::byte> staged_;
  std::vector<Place> places_;
  DeviceMemory memory_;
};

/// Immutable, safe from many threads.
class CampplusModel {
 public:
  CampplusModel(int device, const CampplusParts& parts, bool exact);
  CampplusModel(const CampplusModel&) = delete;
  CampplusModel& operator=(const CampplusModel&) = delete;

  int device() const noexcept { return device_; }
  bool exact() const noexcept { return exact_; }
  GraphKind kind() const noexcept { return kind_; }
  bool has_trunk() const noexcept {
    return kind_ == GraphKind::kNetwork || kind_ == GraphKind::kTrunk;
  }

  PackedProduct stem;
  std::array<PackedProduct, kHeadConvolutions> convolutions, shortcuts;  // weights null: none
  PackedProduct tdnn;
  std::array<std::vector<DenseLayerWeights>, 3> blocks;
  std::array<TransitWeights, 3> transits;
  const float* last_weight = nullptr;  // [2 * columns][outputs]
  const float* last_bias = nullptr;
  int last_columns = 0, last_outputs = 0;

 private:
  void add_head(const CampplusParts& parts);
  void add_dense(const CampplusParts& parts);
  void add_statistics(const model::StatsHead& head);
  void add_convolution(PackedProduct& product, const model::Conv2d& block);

  int device_;
  bool exact_;
  GraphKind kind_;
  WeightStore store_;
};

}  // namespace diarist::backend::cuda::campplus
