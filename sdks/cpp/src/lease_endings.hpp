#pragma once

#include "platform.hpp"

// Written by packages/sdk/generate.ts from the contract.
namespace keyward::detail {

/** Refusals of the user, the key or the device; mistyped input is not one. */
inline bool endsLease(const std::string &code) {
  static const std::set<std::string> &codes = *new std::set<std::string>{
      "userBanned",
      "keyBanned",
      "pausedSub",
      "noActiveSubs",
      "updatesEnded",
      "hwidBlacklisted",
      "hwidMismatch",
      "notActivated",
      "trialUsed",
  };
  return codes.count(code) > 0;
}

}  // namespace keyward::detail
