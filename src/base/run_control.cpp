#include "base/run_control.hpp"

namespace diarist::base {

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) fail(ErrorCode::kCancelled, "stopped on request");
}

}  // namespace diarist::base
