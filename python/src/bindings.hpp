#pragma once
// The parts of the module diarist._engine.

#include <nanobind/nanobind.h>

namespace diarist::python {

void bind_options(nanobind::module_& module);
void bind_result(nanobind::module_& module);
void bind_engine(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_embedder(nanobind::module_& module);
void bind_formats(nanobind::module_& module);
void bind_models(nanobind::module_& module);
void bind_voices(nanobind::module_& module);

}  // namespace diarist::python
