// A shared library that says it is cuDNN 8.9.7.

#include <cstddef>

extern "C" std::size_t cudnnGetVersion() { return 8907; }
