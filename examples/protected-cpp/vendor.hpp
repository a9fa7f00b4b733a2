// What a vendor builds into the program. Copy the four values from the console.
#pragma once

#include <cstdlib>
#include <string>

#include "keyward.hpp"

#ifdef TALLY_CONFIG_FROM_ENVIRONMENT
/** For tests alone: anyone who sets these variables chooses the server that the program believes. */
inline std::string setting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}
#endif

inline keyward::Options vendorOptions() {
  keyward::Options options;
#ifdef TALLY_CONFIG_FROM_ENVIRONMENT
  options.baseUrl = setting("KEYWARD_BASE_URL");
  options.appId = setting("KEYWARD_APP_ID");
  options.secret = setting("KEYWARD_SECRET");
  options.publicKeys = setting("KEYWARD_PUBLIC_KEYS");
  if (!setting("KEYWARD_HWID").empty()) options.hwid = setting("KEYWARD_HWID");
#else
  options.baseUrl = "http://127.0.0.1:3000";
  options.appId = "k3yw4rd1";
  options.secret = "the app secret from the console";
  options.publicKeys = R"([{ "kty": "OKP", "crv": "Ed25519", "kid": "the key id", "x": "the public key" }])";
#endif
  options.version = "1.0.0";
  // Keeps the lease for work without the server, and the sign-in between two runs.
  options.storage = keyward::userData;
  return options;
}
