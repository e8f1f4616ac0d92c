#pragma once
// The recurrence of a bidirectional LSTM layer of 128 units, a stretch of its steps at a time.

#include <cuda_runtime_api.h>

#include "backend/cuda/kernels/half.hpp"

namespace diarist::backend::cuda {

constexpr int kLstmUnits = 128;
/// Windows that one group of products covers; batches are padded to multiples of it.
constexpr int kLstmGroup = 8;
/// States are stored as halves of state * 256.
constexpr float kStateScale = 256;

/// Input products are exponents of two: gates times this, candidates times twice this.
constexpr float kGateFactor = -1.4426950408889634F;

/// Steps first .. first + steps - 1 of both directions; the reverse direction's step s is frame
/// frames - 1 - s. Between stretches the state lies in `rows` (h) and `cells` (c).
struct LstmArgs {
  const float* products = nullptr;  // [2][steps][windows][512], column = unit*4 + gate, in
                                    // the order of frames
  const void* weights = nullptr;    // from pack_recurrent()
  __half* rows = nullptr;           // [frames][windows][512]: high parts of forward and reverse
                                    // states, then low parts
  float* cells = nullptr;           // [2][windows][128]
  float unscale[2] = {1, 1};        // undoes the powers of two of states and weights
  int windows = 0;                  // a multiple of 8 (of 8*groups)
  int frames = 0, first = 0, steps = 0;
};

/// Two CTAs share a group of windows and keep all weights in registers. Needs clusters (sm_90 and
/// later). `groups`: 1 or 2 groups of 8 windows per pair of CTAs; no say in the bits.
cudaError_t prepare_lstm_pair();
cudaError_t launch_lstm_pair(const LstmArgs& args, int groups, cudaStream_t stream);

/// One CTA serves a group of windows; the low parts of the weights lie in shared memory. Needs
/// kLstmSingleShared bytes of it per CTA. The same bits as launch_lstm_pair.
constexpr int kLstmSingleShared = 131072 + 4 * kLstmGroup * 136 * 2;
cudaError_t prepare_lstm_single();
cudaError_t launch_lstm_single(const LstmArgs& args, cudaStream_t stream);

}  // namespace diarist::backend::cuda
