#pragma once

#include "client.hpp"
#include "clock.hpp"
#include "granted.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "platform.hpp"
#include "version.hpp"

namespace keyward {

inline Client::Time Client::deadline() const {
  return detail::Clock::now() + std::chrono::milliseconds(checked_.options.timeoutMs);
}

inline bool Client::isSignedOut(const Json &result) {
  return !result["ok"].isTrue() && result["code"].string() == "sessionUnauthed";
}

inline std::optional<std::string> Client::currentSession() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return session_;
}

inline bool Client::hasUser() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return session_ && !user_.isNull();
}

inline void Client::forgetUser() {
  const std::lock_guard<std::mutex> lock(mutex_);
  user_ = Json();
}

inline detail::IsCurrent Client::untilSignOut() const {
  return [this, signOuts = signOuts_.load()] { return signOuts == signOuts_; };
}

inline Json Client::overtaken() {
  return Json::object()
      .set("ok", false)
      .set("code", "sessionUnauthed")
      .set("message", "The user signed out before this call was finished");
}

inline bool Client::signInIfCurrent(const Json &user, const detail::IsCurrent &isCurrent, bool isKnown) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!isCurrent()) return false;
  user_ = user;
  if (isKnown) known_ = user;
  return true;
}

inline Client::Answered Client::open(Time until) {
  const Options &options = checked_.options;
  Json body = Json::object();
  body.set("appId", options.appId).set("secret", options.secret).set("version", options.version).set("sdk", sdk);
  if (options.hash) body.set("hash", *options.hash);
  if (options.locale) body.set("locale", *options.locale);
  if (const auto hwid = findHwid()) body.set("hwid", *hwid);
  detail::Outcome outcome = transport_.send({"POST", "init", body, {}, true}, until);
  if (!outcome.ok) {
    forgetUser();
    return {outcome.refused, ""};
  }
  const std::string session = outcome.data["session"].string();
  const bool isGood = !session.empty() && session.size() <= 1024 &&
                      std::all_of(session.begin(), session.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!isGood) throw detail::unexpected("init");
  outcome.data.erase("session");
  Json opened = detail::granted(outcome, "app");
  const std::lock_guard<std::mutex> lock(mutex_);
  session_ = session;
  user_ = Json();
  public_ = opened["variables"];
  return {opened, session};
}

inline Client::Answered Client::opened(Time until) {
  if (const std::optional<std::string> session = currentSession()) return {Json(), *session};
  return opening_.run(until, [&] { return open(until); });
}

inline Client::Answered Client::call(detail::Call call, const Limits &limits, bool reopen) {
  const detail::IsCurrent &isCurrent = limits.isCurrent;
  for (;;) {
    if (!isCurrent()) return {overtaken(), ""};
    const Answered opening = opened(limits.until);
    const std::string &session = opening.session;
    if (session.empty()) return opening;
    // Sent now, it would sign in the user who has signed out meanwhile.
    if (!isCurrent()) return {overtaken(), ""};
    call.session = session;
    const detail::Outcome outcome = transport_.send(call, limits.until);
    if (outcome.ok) {
      const Json result = detail::granted(outcome, "user");
      // An upgrade may concern another user than the signed-in one.
      if (call.name == "upgrade" || signInIfCurrent(result["user"], isCurrent, true)) return {result, session};
      endSession(session);
      return {overtaken(), ""};
    }
    const bool isUnauthed = outcome.refused["code"].string() == "sessionUnauthed";
    // A refusal ends what the license included, until the next success.
    if (call.name == "session") signInIfCurrent(Json(), isCurrent);
    if (isUnauthed) endSession(session);
    if (!isUnauthed || !reopen || !isCurrent()) return {outcome.refused, session};
    reopen = false;
  }
}

inline void Client::endSession(const std::optional<std::string> &session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (session_ == session) session_.reset();
}

inline Json Client::signedIn(detail::Call call, const char *required) {
  const Time until = deadline();
  for (bool reopen = call.body && call.body->find("licenseKey");; reopen = false) {
    const Answered opening = opened(until);
    if (opening.session.empty()) return opening.result;
    call.session = opening.session;
    const detail::Outcome outcome = transport_.send(call, until);
    if (outcome.ok) return detail::granted(outcome, required);
    if (outcome.refused["code"].string() != "sessionUnauthed" || !reopen) return outcome.refused;
    endSession(opening.session);
  }
}

}  // namespace keyward
