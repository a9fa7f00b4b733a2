#pragma once

#include "client.hpp"
#include "granted.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "outcome.hpp"
#include "platform.hpp"

namespace keyward {

inline void Client::rememberKey(const std::optional<std::string> &licenseKey) {
  const std::lock_guard<std::mutex> lock(mutex_);
  key_ = licenseKey;
}

inline Json Client::signIn(const detail::Call &attempt, const Limits &limits,
            const std::optional<std::string> &licenseKey) {
  const Json result = kept([&] { return call(attempt, limits); }, limits, licenseKey);
  if (result["ok"].isTrue()) rememberKeyIfCurrent(licenseKey, limits.isCurrent);
  return result;
}

inline void Client::rememberKeyIfCurrent(const std::optional<std::string> &licenseKey, const detail::IsCurrent &isCurrent) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (isCurrent()) key_ = licenseKey;
}

inline Json Client::check(const Limits &limits) {
  const auto online = [&]() -> Answered {
    for (;;) {
      if (!currentSession())
        if (const std::optional<Answered> resumed = resumeOnce(limits)) return *resumed;
      const Answered answered = call({"GET", "session", {}, {}, true}, limits, false);
      if (!isSignedOut(answered.result)) return answered;
      if (!currentSession())
        if (const std::optional<Answered> resumed = resumeOnce(limits)) return *resumed;
      // Another call may have opened a session meanwhile, which may have a user.
      if (!currentSession() || !limits.isCurrent()) return answered;
    }
  };
  const Json result = kept(online, limits);
  if (!isSignedOut(result) || !limits.isCurrent()) return result;
  if (const std::optional<Json> signedIn = signInByKey(limits)) return *signedIn;
  return activated(limits.isCurrent).value_or(result);
}

inline std::optional<Json> Client::signInByKey(const Limits &limits) {
  std::optional<std::string> licenseKey;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    licenseKey = key_;
  }
  if (!licenseKey) return std::nullopt;
  const Json result = signingIn_.run(limits.until, [&] { return signInBy(*licenseKey, limits); });
  return result.isNull() ? std::nullopt : std::optional<Json>(result);
}

inline Json Client::signInBy(const std::string &licenseKey, const Limits &limits) {
  // Another call has signed in since this one was refused.
  if (hasUser()) {
    const Json result = kept([&] { return call({"GET", "session", {}, {}, true}, limits, false); }, limits);
    if (!isSignedOut(result)) return result;
  }
  // A vendor who deleted the user has freed the key for somebody else.
  const bool isFreed = isUnused(licenseKey, limits.until);
  if (isFreed) forgetKey(licenseKey);
  if (isFreed || !limits.isCurrent()) return Json();
  Json body = Json::object();
  body.set("licenseKey", licenseKey);
  addSignInFacts(body);
  const Json result = signIn({"POST", "license", body, {}, true}, limits, licenseKey);
  if (result["code"].string() == "keyNotFound") forgetKey(licenseKey);
  return result;
}

inline void Client::forgetKey(const std::string &licenseKey) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (key_ == licenseKey) key_.reset();
}

inline bool Client::isUnused(const std::string &licenseKey, Time until) {
  const detail::Outcome outcome = transport_.send(toValidation(licenseKey), until);
  if (!outcome.ok || !outcome.data["valid"].isTrue()) return false;
  return !detail::granted(outcome, "license")["license"]["used"].isTrue();
}

inline Json Client::keepToken(Json result, const detail::IsCurrent &isCurrent) {
  const Json token = result["deviceToken"];
  result.erase("deviceToken");
  if (token.isString()) checked_.offline->keepDeviceToken(token.string(), isCurrent);
  return result;
}

inline std::optional<Client::Answered> Client::resumeOnce(const Limits &limits) {
  if (!checked_.offline) return std::nullopt;
  const Answered resumed = resuming_.run(limits.until, [&] { return resume(limits).value_or(Answered()); });
  return resumed.result.isNull() ? std::nullopt : std::optional<Answered>(resumed);
}

inline std::optional<Client::Answered> Client::resume(const Limits &limits) {
  const std::optional<std::string> deviceToken = checked_.offline->deviceToken();
  if (!deviceToken) return std::nullopt;
  Json body = Json::object();
  body.set("deviceToken", *deviceToken);
  addMachine(body);
  if (!body.find("hwid")) return std::nullopt;
  // The server accepts the same token again if its answer was lost.
  const Answered resumed = call({"POST", "resume", body, {}, true}, limits, false);
  if (resumed.result["ok"].isTrue()) return Answered{keepToken(resumed.result, limits.isCurrent), resumed.session};
  if (!isSignedOut(resumed.result)) return resumed;
  checked_.offline->dropDeviceToken(*deviceToken);
  return std::nullopt;
}

}  // namespace keyward
