#pragma once

#include "platform.hpp"

namespace keyward::detail {

using Clock = std::chrono::steady_clock;

/** The time in seconds since 1970; replaceable for tests. */
using Now = std::function<double()>;

inline double systemNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/** Seconds that no setting of the clock changes. */
inline double systemElapsed() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace keyward::detail
