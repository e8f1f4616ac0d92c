#include "model/tensor_source.hpp"

#include <fmt/ranges.h>

#include "base/error.hpp"

namespace diarist::model {

const base::TensorF& TensorSource::any(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    base::fail(ErrorCode::kBadModel, "{}: tensor {} is missing; use a complete file of this model",
               origin_, name);
  }
  // A reader that lost count of its numbers must not become an access outside of them.
  if (found->second.size() != base::element_count(found->second.shape())) {
    base::fail(ErrorCode::kBadModel, "{}: tensor {} holds {} numbers, which is not its shape [{}]",
               origin_, name, found->second.size(), fmt::join(found->second.shape(), ", "));
  }
  return found->second;
}

const base::TensorF& TensorSource::get(const std::string& name, const base::Shape& shape) const {
  const base::TensorF& tensor = any(name);
  if (tensor.shape() != shape) refuse_shape(name, shape);
  return tensor;
}

base::TensorF TensorSource::matrix(const std::string& name, std::int64_t rows,
                                   std::int64_t columns) const {
  const base::TensorF& tensor = any(name);
  if (tensor.shape() == base::Shape{rows, columns}) return tensor;
  if (tensor.shape() != base::Shape{rows, columns, 1}) refuse_shape(name, {rows, columns});
  return {{rows, columns}, {tensor.values().begin(), tensor.values().end()}};
}

void TensorSource::refuse_shape(const std::string& name, const base::Shape& wanted) const {
  base::fail(ErrorCode::kBadModel,
             "{}: tensor {} has shape [{}], needed is [{}]; use a file of this model", origin_,
             name, fmt::join(any(name).shape(), ", "), fmt::join(wanted, ", "));
}

}  // namespace diarist::model
