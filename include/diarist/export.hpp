#pragma once
/// \file
/// What a shared library shows to those who link it: everything else is hidden.

#if defined(__GNUC__)
#define DIARIST_API __attribute__((visibility("default")))
#else
#define DIARIST_API
#endif
