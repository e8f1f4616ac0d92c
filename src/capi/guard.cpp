#include "capi/guard.hpp"

#include <exception>
#include <new>

namespace diarist::capi {
namespace {

thread_local diarist_status last_status = DIARIST_OK;
thread_local std::string last_text;
// When there is no memory even for the text.
thread_local bool text_is_lost = false;

diarist_status remember(ErrorCode code, std::string_view text) noexcept {
  last_status = static_cast<diarist_status>(code);
  text_is_lost = false;
  try {
    last_text = text;
  } catch (...) {
    text_is_lost = true;
  }
  return last_status;
}

}  // namespace

diarist_status remember_failure() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return remember(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return remember(ErrorCode::kOutOfMemory, "not enough memory");
  } catch (const std::exception& error) {
    return remember(ErrorCode::kInternal, error.what());
  } catch (...) {
    return remember(ErrorCode::kInternal, "an exception without text");
  }
}

void refuse(const std::string& text) { throw Error(ErrorCode::kInvalidArgument, text); }

}  // namespace diarist::capi

using diarist::capi::last_status;

extern "C" {

const char* diarist_last_error(void) {
  return diarist::capi::text_is_lost ? "not enough memory" : diarist::capi::last_text.c_str();
}

diarist_status diarist_last_status(void) { return last_status; }

const char* diarist_status_name(diarist_status status) {
  if (status == DIARIST_OK) return "ok";
  if (status < DIARIST_OK || status > DIARIST_INTERNAL) return "unknown";
  return diarist::error_code_name(static_cast<diarist::ErrorCode>(status));
}

}  // extern "C"
