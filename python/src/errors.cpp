#include "errors.hpp"

#include <exception>
#include <string>

namespace nb = nanobind;

namespace diarist::python {

nb::object make_error(const Error& error) {
  return nb::module_::import_("diarist._errors")
      .attr("error_of")(error_code_name(error.code()), error.what());
}

void register_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const nb::object made = make_error(error);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
  });
}

void fail_argument(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

}  // namespace diarist::python
