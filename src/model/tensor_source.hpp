#pragma once
// Checked access to tensors by name: every message about a bad weight file is made here.

#include <map>
#include <string>

#include "base/tensor.hpp"

namespace diarist::model {

/// A view of named tensors that must outlive it.
class TensorSource {
 public:
  /// \param origin what messages call the file or model, e.g. "model.bin" or "pyannet weights".
  TensorSource(const std::map<std::string, base::TensorF>& tensors, std::string origin)
      : tensors_(tensors), origin_(std::move(origin)) {}

  bool has(const std::string& name) const { return tensors_.count(name) != 0; }

  /// The tensor, which must have exactly this shape. \throws Error kBadModel.
  const base::TensorF& get(const std::string& name, const base::Shape& shape) const;

  /// A matrix [rows, columns] that the file may also store as a convolution of one tap,
  /// [rows, columns, 1]. \throws Error kBadModel.
  base::TensorF matrix(const std::string& name, std::int64_t rows, std::int64_t columns) const;

  /// The tensor with any shape. \throws Error kBadModel when it is missing.
  const base::TensorF& any(const std::string& name) const;

  [[noreturn]] void refuse_shape(const std::string& name, const base::Shape& wanted) const;
  const std::string& origin() const noexcept { return origin_; }

 private:
  const std::map<std::string, base::TensorF>& tensors_;
  std::string origin_;
};

}  // namespace diarist::model
