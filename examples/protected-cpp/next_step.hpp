// What the customer can do now: one sentence per code, with the dates and numbers of the answer.
#pragma once

#include <map>
#include <string>

#include "keyward.hpp"

inline std::string dayOf(const std::string &iso) { return iso.substr(0, 10); }
inline std::string momentOf(const std::string &iso) {
  return iso.size() < 16 ? iso : iso.substr(0, 10) + " " + iso.substr(11, 5) + " UTC";
}

inline std::string countOf(const keyward::Json &use) {
  if (!use.isObject()) return "all";
  const auto number = [&](const char *name) { return std::to_string(static_cast<long>(use[name].number())); };
  return number("used") + " of " + number("limit");
}

/** After a refusal. */
inline std::string nextStep(const std::string &code, const keyward::Json &details) {
  const std::string ended = details["expiresAt"].string();
  const std::string until = details["until"].string();
  const std::string release = details["release"]["version"].string();
  const std::map<std::string, std::string> steps = {
      {"appDisabled", "The vendor has ended this program. Ask the vendor what replaces it."},
      {"pausedApp", "The vendor has paused this program. Try again later."},
      {"hashCheckFail", "This copy is damaged or changed. Install Tally again."},
      {"sessionUnauthed", "Start Tally once with --key YOUR-LICENSE-KEY."},
      {"keyNotFound", "Check the key for typing mistakes."},
      {"keyBanned", "Ask the vendor for another key."},
      {"pausedSub", "Your license is paused. Ask the vendor when it goes on."},
      {"noActiveSubs", "Your license ended" + (ended.empty() ? "" : " on " + dayOf(ended)) + ". Renew it, then start Tally again."},
      {"updatesEnded", "Your license does not cover this version. Install an earlier one, or renew your updates."},
      {"versionTooOld", "Install " + (release.empty() ? "a newer version." : "version " + release + ".")},
      {"hwidBlacklisted", "The vendor has blocked this computer or address. Ask the vendor."},
      {"hwidMismatch", "Your license is in use on " + countOf(details["devices"]) + " computers. Ask the vendor to free one."},
      {"vpnBlocked", "Turn off the VPN, then start Tally again."},
      {"noSeats", "All " + countOf(details["seats"]) + " seats are in use. Try again " + (until.empty() ? "later." : "at " + momentOf(until) + ".")},
  };
  const auto found = steps.find(code);
  return found == steps.end() ? "Ask the vendor." : found->second;
}

/** After an error that is no verdict. */
inline std::string nextStep(const keyward::NetworkError &error) {
  const std::map<std::string, std::string> steps = {
      {"lease_ended", "Tally has worked offline for as long as it may. Go online, then start Tally again."},
      {"clock_set_back", "The clock of this computer is behind. Correct it, or go online, then start Tally again."},
      {"captive_portal", "Sign in to your network in a browser, then start Tally again."},
      {"certificate", "Something on this network replaces the server. Try another network, or ask your administrator."},
      {"clock", "Correct the clock of this computer, then start Tally again."},
  };
  if (error.retryAfterMs) return "Try again in " + std::to_string(*error.retryAfterMs / 1000) + " seconds.";
  const auto offline = steps.find(error.offline.value_or(""));
  const auto found = offline == steps.end() ? steps.find(error.code) : offline;
  return found == steps.end() ? "Check your connection, then start Tally again." : found->second;
}
