#pragma once
// Comparisons of distances that are known about, and exactly when that is needed.

#include <cstdint>
#include <limits>

#include "cluster/exact_distances.hpp"

namespace diarist::cluster {

/// A distance of two nodes, at the time when both stood side by side; or infinity.
struct Distance {
  std::int32_t later = -1, earlier = -1;
  double square = std::numeric_limits<double>::infinity();  // estimate
  double margin = 0;                                        // of the estimate, either way
  double exact = -1;                                        // below zero: not known yet
  double low() const { return square - margin; }
  double high() const { return square + margin; }
};

/// Compares distances by their estimates, or exactly where these can't tell.
class Judge {
 public:
  explicit Judge(ExactDistances& distances) : distances_(&distances) {}

  bool operator()(Distance& a, Distance& b) const { return less(a, b); }

  bool less(Distance& a, Distance& b) const {
    if (same_nodes(a, b)) return false;
    if (a.exact >= 0 && b.exact >= 0) return a.exact < b.exact;
    if (a.high() < b.low()) return true;
    if (a.low() > b.high()) return false;
    return exact(a) < exact(b);
  }

  bool equal(Distance& a, Distance& b) const {
    if (same_nodes(a, b)) return true;
    if (a.high() < b.low() || a.low() > b.high()) return false;
    return exact(a) == exact(b);
  }

  double exact(Distance& a) const {
    if (a.exact < 0) a.exact = a.later < 0 ? a.square : distances_->value(a.later, a.earlier);
    return a.exact;
  }

 private:
  static bool same_nodes(const Distance& a, const Distance& b) {
    return a.later == b.later && a.earlier == b.earlier;
  }

  ExactDistances* distances_;
};

}  // namespace diarist::cluster
