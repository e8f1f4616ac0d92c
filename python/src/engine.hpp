#pragma once
// The engine, shared by runs and streams that outlive a call.

#include <memory>

#include "diarist/diarizer.hpp"

namespace diarist::python {

struct Engine {
  std::shared_ptr<const Diarizer> diarizer;
};

}  // namespace diarist::python
