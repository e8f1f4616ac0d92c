#pragma once
// How far apart looks at the stop token are. Programs that link this with
// --wrap=_ZN7diarist4base10check_stopERKSt10stop_token have a clock in front of base::check_stop().

namespace diarist::test {

/// Seconds of its own processor time that a thread spent between two looks, at most, since the last
/// call; other work on the machine does not count. Ends the stretch of the calling thread.
double longest_without_a_look();

}  // namespace diarist::test
