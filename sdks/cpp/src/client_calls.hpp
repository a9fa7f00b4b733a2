#pragma once

#include "arguments.hpp"
#include "client.hpp"
#include "errors.hpp"
#include "granted.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "outcome.hpp"
#include "platform.hpp"
#include "results.hpp"
#include "typed_results.hpp"

namespace keyward {

inline Result<InitData> Client::init() {
  rememberKey(std::nullopt);
  away_.end();
  return detail::toResult<InitData>(open(deadline()).result);
}

inline Result<UserData> Client::register_(const Registration &registration) {
  const detail::IsCurrent isCurrent = untilSignOut();
  detail::checkArgument("username", registration.username);
  detail::checkArgument("password", registration.password);
  Json body = Json::object();
  body.set("username", registration.username)
      .set("password", registration.password)
      .set("licenseKey", detail::toKey(registration.licenseKey));
  setOptional(body, "email", registration.email);
  addSignInFacts(body);
  return toUserResult(signIn({"POST", "register", body, {}, false}, {deadline(), isCurrent}));
}

inline Result<UserData> Client::login(const Credentials &credentials) {
  const detail::IsCurrent isCurrent = untilSignOut();
  detail::checkArgument("username", credentials.username);
  detail::checkArgument("password", credentials.password);
  Json body = Json::object();
  body.set("username", credentials.username).set("password", credentials.password);
  addSignInFacts(body);
  return toUserResult(signIn({"POST", "login", body, {}, true}, {deadline(), isCurrent}));
}

inline Result<UserData> Client::license(const std::string &licenseKey) {
  const detail::IsCurrent isCurrent = untilSignOut();
  const std::string key = detail::toKey(licenseKey);
  Json body = Json::object();
  body.set("licenseKey", key);
  addSignInFacts(body);
  const Online online = [this, body, isCurrent, key](Time until) {
    return signIn({"POST", "license", body, {}, true}, {until, isCurrent}, key);
  };
  return toUserResult(orOffline("license", online, isCurrent, key));
}

inline Result<UserData> Client::upgrade(const Upgrade &upgrade) {
  detail::checkArgument("username", upgrade.username);
  Json body = Json::object();
  body.set("username", upgrade.username).set("licenseKey", detail::toKey(upgrade.licenseKey));
  return toUserResult(call({"POST", "upgrade", body, {}, false}, {deadline(), [] { return true; }}).result);
}

inline Result<UserData> Client::session() {
  const detail::IsCurrent isCurrent = untilSignOut();
  const Online online = [this, isCurrent](Time until) { return check({until, isCurrent}); };
  return toUserResult(orOffline("session", online, isCurrent));
}

inline Result<Nothing> Client::logout() {
  std::optional<std::string> session;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    signOuts_++;
    session = std::exchange(session_, std::nullopt);
    user_ = known_ = Json();
    key_.reset();
  }
  away_.end();
  if (checked_.offline) checked_.offline->forget();
  Json result = Json::object().set("ok", true);
  if (!session) return detail::toResult<Nothing>(result);
  const detail::Outcome outcome = transport_.send({"POST", "logout", {}, session, true}, deadline());
  // The session has already ended, which is what the caller wants.
  if (!outcome.ok && outcome.refused["code"].string() != "sessionUnauthed") return detail::toResult<Nothing>(outcome.refused);
  if (outcome.ok && outcome.message && !outcome.message->empty()) result.set("message", *outcome.message);
  return detail::toResult<Nothing>(result);
}

inline Result<UserData> Client::trial(const Trial &trial) {
  const detail::IsCurrent isCurrent = untilSignOut();
  Json body = Json::object();
  setOptional(body, "type", trial.type);
  setOptional(body, "email", trial.email);
  addMachine(body);
  return toUserResult(signIn({"POST", "trial", body, {}, true}, {deadline(), isCurrent}));
}

inline Result<DevicesData> Client::devices() {
  return detail::toResult<DevicesData>(signedIn({"GET", "devices", {}, {}, true}, "devices"));
}

inline Result<Nothing> Client::freeDevice(const std::string &deviceId) {
  detail::checkArgument("deviceId", deviceId);
  // Addresses drop `.` and `..`, so they would name another call.
  if (deviceId.empty() || deviceId == "." || deviceId == "..")
    throw UsageError("invalid_argument", "deviceId must be a text that can be part of an address");
  return detail::toResult<Nothing>(
      signedIn({"DELETE", "devices/" + detail::encodePathSegment(deviceId), {}, {}, false}, nullptr));
}

inline Result<ValidateData> Client::validate(const std::string &licenseKey, const ValidateOptions &options) {
  const detail::Call validation = toValidation(detail::toKey(licenseKey), options.activate);
  const detail::Outcome outcome = transport_.send(validation, deadline());
  if (!outcome.ok) return detail::toResult<ValidateData>(outcome.refused);
  const Json &data = outcome.data;
  if (data["valid"].isTrue()) return detail::toResult<ValidateData>(detail::granted(outcome, "license"));
  if (!data["valid"].isFalse() || !data["code"].isString()) throw detail::unexpected("validate");
  const std::string &code = data["code"].string();
  Json refused = Json::object();
  refused.set("ok", false).set("code", code).set("message", outcome.message.value_or(code));
  detail::copyRefusalFacts(data, refused);
  return detail::toResult<ValidateData>(refused);
}

inline bool Client::has(const std::string &feature) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Json &one : user_["features"].items())
    if (one.isString() && one.string() == feature) return true;
  return false;
}

inline std::optional<std::string> Client::variable(const std::string &name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Json *own = user_["variables"].find(name);
  return own ? own->text() : public_[name].text();
}

inline detail::Call Client::toValidation(const std::string &licenseKey, bool activate) {
  Json body = Json::object();
  body.set("appId", checked_.options.appId).set("licenseKey", licenseKey);
  addMachine(body);
  if (activate) body.set("activate", true);
  setOptional(body, "locale", checked_.options.locale);
  return {"POST", "validate", body, {}, true};
}

}  // namespace keyward
