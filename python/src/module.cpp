// diarist._engine: the public headers for the Python of python/diarist, which is what people use.

#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "errors.hpp"

NB_MODULE(_engine, module) {
  using namespace diarist::python;
  module.doc() = "The engine of diarist; use the package diarist instead.";
  // A generator that lives until the interpreter ends keeps its objects: that is no leak.
  nanobind::set_leak_warnings(false);
  register_errors();
  bind_options(module);
  bind_result(module);
  bind_engine(module);
  bind_stream(module);
  bind_embedder(module);
  bind_formats(module);
  bind_models(module);
  bind_voices(module);
}
