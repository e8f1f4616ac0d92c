#pragma once
// The toolkit's type of a half, by name only: its header is large.

struct __half;  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
