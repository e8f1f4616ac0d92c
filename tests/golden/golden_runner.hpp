#pragma once
// Runs graphs on any device and compares with the arrays of spec/golden.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "model/graph.hpp"

namespace diarist::test {

using Numbers = std::vector<float>;

/// What a graph is run on. Shared inputs are taken from `shared` and left empty in the items.
struct Input {
  std::vector<std::vector<Numbers>> items;  // [item][input], ragged ones as long as they are
  std::vector<std::int32_t> lengths;        // of every item; graphs with a ragged input only
  Numbers shared;                           // rows of the shared input
};

/// [item][output] in C order; classes and indices as numbers.
using Outputs = std::vector<std::vector<Numbers>>;

/// One batch. Memory is reached through the queue only, as a device needs it.
Outputs run_batch(backend::Backend& backend, const model::Graph& graph, const Input& input);

/// A golden array as f32, of any shape. \throws Error kNotFound.
Numbers golden(const std::string& file);

/// Columns [first, first + count) of rows; `columns` wide.
Numbers some_rows(const Numbers& rows, std::int64_t columns, std::int64_t first,
                  std::int64_t count);

/// Every `step`-th column of rows, each as a sequence over time: [columns/step, time].
Numbers columns_over_time(const Numbers& rows, std::int64_t columns, std::int64_t step);

/// Rows minus their mean, per column.
Numbers centred(const Numbers& rows, std::int64_t columns);

double largest(const Numbers& numbers);

/// Expects |got - wanted| <= bound everywhere; prints and records the largest difference.
void expect_close(const std::string& name, const Numbers& got, const Numbers& wanted, double bound);

/// The bound of golden/README.md for most arrays: 1e-5 of the largest number.
void expect_close(const std::string& name, const Numbers& got, const Numbers& wanted);

/// Tests that run on every device of this build.
class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  /// Made on first use.
  backend::Backend& device();

 private:
  std::unique_ptr<backend::Backend> device_;
};

/// Instantiates a suite of GoldenTest for all devices.
std::vector<std::string> golden_devices();
std::string device_test_name(const testing::TestParamInfo<std::string>& info);

}  // namespace diarist::test

#define DIARIST_ON_EVERY_DEVICE(suite)                                                         \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::ValuesIn(diarist::test::golden_devices()), \
                           diarist::test::device_test_name)
