#include "backend/cuda/library/library_convolutions.hpp"

#include <type_traits>
#include <utility>

#include "backend/cuda/check.hpp"
#include "backend/cuda/library/map_passes.hpp"
#include "backend/cuda/memory.hpp"
#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

cudnn::DataType type_of(Mode mode) { return mode == Mode::kFast ? cudnn::kHalf : cudnn::kFloat; }

}  // namespace

// Height is frequency, width is time.
LibraryPlan::LibraryPlan(const CudnnLibrary& library, Mode mode, const ConvLayer& layer, int items)
    : name_(fmt::format("{} ({}), batch {}, {} mode", layer.name, shape_text(layer.shape), items,
                        mode_name(mode))),
      residual_(layer.shape.residual),
      items_(items),
      channels_(layer.shape.cout),
      values_(std::int64_t{layer.shape.cout} * layer.shape.out_frequency() *
              layer.shape.out_time()),
      x_(nullptr, library.api().destroy_tensor),
      y_(nullptr, library.api().destroy_tensor),
      bias_(nullptr, library.api().destroy_tensor),
      w_(nullptr, library.api().destroy_filter),
      convolution_(nullptr, library.api().destroy_convolution),
      activation_(nullptr, library.api().destroy_activation) {
  const cudnn::Api& api = library.api();
  const LayerShape& s = layer.shape;
  if (s.stem() || (s.taps != 9 && s.taps != 1))
    base::fail(ErrorCode::kUnsupported, "{}: the library runs 3x3 and 1x1 convolutions only",
               name_);
  const auto check = [&](cudnn::Status status) { library.check(status, name_); };
  const auto create = [&](auto make, auto& owner) {
    typename std::remove_reference_t<decltype(owner)>::pointer made = nullptr;
    check(make(&made));
    owner.reset(made);
  };
  create(api.create_tensor, x_);
  create(api.create_tensor, y_);
  create(api.create_tensor, bias_);
  create(api.create_filter, w_);
  create(api.create_convolution, convolution_);
  create(api.create_activation, activation_);
  const cudnn::DataType type = type_of(mode);
  const int window = s.taps == 9 ? 3 : 1, padding = window / 2;
  check(api.set_tensor(x_.get(), cudnn::kNhwc, type, items, s.cin, s.frequency, s.time));
  check(
      api.set_tensor(y_.get(), cudnn::kNhwc, type, items, s.cout, s.out_frequency(), s.out_time()));
  check(api.set_tensor(bias_.get(), cudnn::kNhwc, type, 1, s.cout, 1, 1));
  check(api.set_filter(w_.get(), type, cudnn::kNhwc, s.cout, s.cin, window, window));
  check(api.set_convolution(convolution_.get(), padding, padding, s.stride_f, s.stride_t, 1, 1,
                            cudnn::kCrossCorrelation, cudnn::kFloat));
  check(api.set_convolution_math(convolution_.get(), math_of(mode)));
  check(api.set_activation(activation_.get(), layer.relu ? cudnn::kRelu : cudnn::kIdentity,
                           cudnn::kNotPropagateNan, 0));
}

LibraryConvolutions::LibraryConvolutions(int device, Mode mode, int largest_items)
    : mode_(mode), largest_items_(largest_items), library_(device), workspace_(device) {}

LibraryConvolutions::ShapeKey LibraryConvolutions::key_of(const ConvLayer& layer) {
  const LayerShape& s = layer.shape;
  return {s.cin,       s.cout, s.taps,     s.stride_f, s.stride_t,
          s.frequency, s.time, s.residual, layer.relu};
}

std::vector<LibraryCandidate> LibraryConvolutions::rank(const LibraryPlan& plan, bool relu) const {
  cudnn::AlgorithmPerf results[2 * cudnn::kAlgorithmCount] = {};
  int count = 0;
  library_.check(library_.api().rank_algorithms(library_.handle(), plan.x_.get(), plan.w_.get(),
                                                plan.convolution_.get(), plan.y_.get(),
                                                2 * cudnn::kAlgorithmCount, &count, results),
                 plan.name_);
  std::vector<LibraryCandidate> candidates;
  for (int i = 0; i < count; ++i) {
    LibraryCandidate candidate;
    candidate.algorithm = static_cast<cudnn::Algorithm>(results[i].algorithm);
    candidate.status = results[i].status;
    candidate.workspace_bytes = results[i].memory;
    candidate.deterministic = results[i].determinism == cudnn::kDeterministic;
    candidate.math = results[i].math;
    candidate.problem = why_not_algorithm(candidate, mode_, relu);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void LibraryConvolutions::take(LibraryPlan& plan, cudnn::Algorithm algorithm, cudaStream_t stream) {
  std::size_t bytes = 0;
  library_.check(
      library_.api().workspace_size(library_.handle(), plan.x_.get(), plan.w_.get(),
                                    plan.convolution_.get(), plan.y_.get(), algorithm, &bytes),
      plan.name_);
  workspace_.reserve(bytes, stream);
  plan.algorithm_ = algorithm;
  plan.workspace_bytes_ = bytes;
}

cudnn::Status LibraryConvolutions::call(const LibraryPlan& plan, const LibraryArgs& args,
                                        cudaStream_t stream) const {
  const cudnn::Api& api = library_.api();
  const cudnn::Status status = api.set_stream(library_.handle(), stream);
  if (status != cudnn::kSuccess) return status;
  if (!plan.fused_) {
    const float one = 1, nothing = 0;
    const cudnn::Status plain =
        api.run_plain(library_.handle(), &one, plan.x_.get(), args.input, plan.w_.get(),
                      args.weights, plan.convolution_.get(), plan.algorithm_, workspace_.data(),
                      plan.workspace_bytes_, &nothing, plan.y_.get(), args.output);
    if (plain != cudnn::kSuccess) return plain;
    const MapArgs map{args.output, mode_ == Mode::kFast, plan.items_, plan.values_};
    check(launch_epilogue(map, args.bias, args.residual, plan.channels_, false, stream),
          plan.name_.c_str());
    return cudnn::kSuccess;
  }
  // Without a residual its place is taken by the output, times nothing: it is not read then.
  const float one = 1, nothing = 0;
  const bool residual = args.residual != nullptr;
  return api.run_fused(library_.handle(), &one, plan.x_.get(), args.input, plan.w_.get(),
                       args.weights, plan.convolution_.get(), plan.algorithm_, workspace_.data(),
                       plan.workspace_bytes_, residual ? &one : &nothing, plan.y_.get(),
                       residual ? args.residual : args.output, plan.bias_.get(), args.bias,
                       plan.activation_.get(), plan.y_.get(), args.output);
}

bool LibraryConvolutions::try_candidates(LibraryPlan& plan, const ConvLayer& layer,
                                         const LibraryArgs& args,
                                         std::vector<LibraryCandidate>& candidates,
                                         cudaStream_t stream) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    LibraryCandidate& candidate = candidates[i];
    if (!candidate.problem.empty()) continue;
    take(plan, candidate.algorithm, stream);
    const cudnn::Status status = call(plan, args, stream);
    if (cudnn::kind_of(status) == cudnn::kNotSupportedKind) {
      candidate.problem = "no fused form: " + library_.text(status);
      continue;
    }
    library_.check(status, plan.name_);
    std::string reason = fmt::format("{}: {} with {}, number {} of its ranking{}", version(),
                                     algorithm_name(candidate.algorithm), math_name(math_of(mode_)),
                                     i + 1, plan.fused_ ? "" : ", bias by a pass of its own");
    if (i > 0) reason += "; before it " + problems_text(std::span(candidates).first(i));
    settled_[key_of(layer)] = {candidate.algorithm, plan.fused_, std::move(reason)};
    return true;
  }
  return false;
}

void LibraryConvolutions::settle(LibraryPlan& plan, const ConvLayer& layer, const LibraryArgs& args,
                                 cudaStream_t stream) {
  std::vector<LibraryCandidate> candidates = rank(plan, layer.relu);
  if (try_candidates(plan, layer, args, candidates, stream)) return;
  if (!layer.relu) {
    plan.fused_ = false;
    candidates = rank(plan, true);
    if (try_candidates(plan, layer, args, candidates, stream)) return;
  }
  base::fail(ErrorCode::kUnsupported,
             "{}: no algorithm of {} serves: {}; take another family or --precision", plan.name_,
             version(), problems_text(candidates));
}

const LibraryPlan& LibraryConvolutions::plan(const ConvLayer& layer, int items,
                                             const LibraryArgs& args, cudaStream_t stream) {
  const ShapeKey key = key_of(layer);
  const auto found = plans_.find({key, items});
  if (found != plans_.end()) return *found->second;
  const DeviceGuard guard(library_.device());
  // The constructor is private, so that make_unique can't be used.
  std::unique_ptr<LibraryPlan> plan(new LibraryPlan(library_, mode_, layer, items));
  const auto settled = settled_.find(key);
  if (settled == settled_.end()) {
    if (items != largest_items_)
      base::fail(ErrorCode::kInternal, "{}: batch {} has to be planned first", plan->name_,
                 largest_items_);
    settle(*plan, layer, args, stream);
  } else {
    plan->fused_ = settled->second.fused;
    take(*plan, settled->second.algorithm, stream);
    library_.check(call(*plan, args, stream), plan->name_);
  }
  return *(plans_[{key, items}] = std::move(plan));
}

std::unique_ptr<LibraryPlan> LibraryConvolutions::trial(const ConvLayer& layer, int items,
                                                        cudnn::Algorithm algorithm,
                                                        const LibraryArgs& args,
                                                        cudaStream_t stream) {
  const DeviceGuard guard(library_.device());
  std::unique_ptr<LibraryPlan> plan(new LibraryPlan(library_, mode_, layer, items));
  take(*plan, algorithm, stream);
  library_.check(call(*plan, args, stream), plan->name_ + ", " + algorithm_name(algorithm));
  return plan;
}

void LibraryConvolutions::run(const LibraryPlan& plan, const LibraryArgs& args,
                              cudaStream_t stream) const {
  if (plan.residual_ != (args.residual != nullptr))
    base::fail(ErrorCode::kInternal, "{}: planned {} a residual", plan.name_,
               plan.residual_ ? "with" : "without");
  library_.check(call(plan, args, stream), plan.name_);
}

void LibraryConvolutions::run_plain(const LibraryPlan& plan, const LibraryArgs& args,
                                    cudaStream_t stream) const {
  const cudnn::Api& api = library_.api();
  library_.check(api.set_stream(library_.handle(), stream), plan.name_);
  const float one = 1, nothing = 0;
  library_.check(
      api.run_plain(library_.handle(), &one, plan.x_.get(), args.input, plan.w_.get(), args.weights,
                    plan.convolution_.get(), plan.algorithm_, workspace_.data(),
                    plan.workspace_bytes_, &nothing, plan.y_.get(), args.output),
      plan.name_);
}

std::vector<LibraryCandidate> LibraryConvolutions::candidates(const ConvLayer& layer,
                                                              int items) const {
  const DeviceGuard guard(library_.device());
  const LibraryPlan plan(library_, mode_, layer, items);
  std::vector<LibraryCandidate> candidates = rank(plan, layer.relu);
  const auto settled = settled_.find(key_of(layer));
  for (LibraryCandidate& candidate : candidates) {
    if (!candidate.problem.empty()) continue;
    candidate.chosen =
        settled == settled_.end() || settled->second.algorithm == candidate.algorithm;
    if (candidate.chosen) break;
  }
  return candidates;
}

const std::string& LibraryConvolutions::reason(const ConvLayer& layer) const {
  const auto settled = settled_.find(key_of(layer));
  if (settled == settled_.end())
    base::fail(ErrorCode::kInternal, "{}: not planned yet", layer.name);
  return settled->second.reason;
}

}  // namespace diarist::backend::cuda
