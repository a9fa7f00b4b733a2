// A second translation unit of the checks: the header must link more than once.
#include "keyward.hpp"

const char *otherSdk();
const char *otherSdk() {
  keyward::Result<keyward::UserData> result;
  return result.ok ? "" : keyward::sdk;
}
