#pragma once

#include "activation_request.hpp"
#include "arguments.hpp"
#include "client.hpp"
#include "clock.hpp"
#include "encodings.hpp"
#include "errors.hpp"
#include "json.hpp"
#include "lease_endings.hpp"
#include "offline.hpp"
#include "option_errors.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "platform.hpp"
#include "results.hpp"

namespace keyward {

inline std::string Client::offlineRequest(const std::string &licenseKey) {
  const std::string key = detail::toKey(licenseKey);
  const std::size_t length = detail::countCharacters(key);
  if (length < 1 || length > 100) throw UsageError("invalid_argument", "licenseKey must have 1 to 100 characters");
  const std::string hwid = offlineMachine("offlineRequest");
  const std::string nonce = checked_.offline->requestNonce(key);
  return detail::encodeRequest(checked_.options.appId, hwid, key, detail::fromHex(nonce).value_or(""));
}

inline Result<UserData> Client::activateOffline(const std::string &file) {
  const detail::IsCurrent isCurrent = untilSignOut();
  const std::string hwid = offlineMachine("activateOffline");
  const detail::OfflineOutcome outcome = checked_.offline->activate(file, hwid);
  if (!outcome.answer) throw UsageError("activation_rejected", rejection(outcome.problem));
  return toUserResult(answerOffline(*outcome.answer, isCurrent));
}

inline std::string Client::deactivateOffline() {
  const std::string hwid = offlineMachine("deactivateOffline");
  const std::optional<std::string> code = checked_.offline->deactivate(hwid);
  if (!code) throw UsageError("no_activation", "This machine has no activation");
  forgetUser();
  return *code;
}

inline std::string Client::rejection(const std::string &problem) {
  if (problem == "other_request") return "The file does not answer the last request of this machine";
  if (problem == "lease_ended") return "The file has ended";
  if (problem == "clock_set_back") return "The clock of this machine is behind: correct it and try again";
  return "The file is damaged, or made for another app or another machine";
}

inline Json Client::kept(const std::function<Answered()> &online, const Limits &limits,
          const std::optional<std::string> &licenseKey) {
  const detail::IsCurrent &isCurrent = limits.isCurrent;
  const Answered answered = online();
  away_.end();
  const Json &result = answered.result;
  const bool isGranted = result["ok"].isTrue();
  if (!isCurrent()) return isGranted ? overtaken() : result;
  const bool hasEnded = !isGranted && detail::endsLease(result["code"].string());
  if (hasEnded) signInIfCurrent(Json(), isCurrent, true);
  if (!checked_.offline) return result;
  const std::optional<std::string> hwid = findHwid();
  if (const std::optional<double> time = transport_.serverTime()) checked_.offline->correctTime(*time, hwid);
  if (!hwid) return result;
  if (!isGranted) {
    if (hasEnded) checked_.offline->forgetLease(isCurrent);
    return result;
  }
  const Json shown = keepToken(result, isCurrent);
  renewLease(*hwid, shown["user"], licenseKey, answered.session, limits);
  return isCurrent() ? shown : overtaken();
}

inline void Client::renewLease(const std::string &hwid, const Json &user, const std::optional<std::string> &licenseKey,
                const std::string &session, const Limits &limits) {
  const std::string userId = user["_id"].string();
  if (!limits.isCurrent() || !(licenseKey || isRenewalDue(hwid, userId))) return;
  setFailedRenewal(FailedRenewal{userId, detail::Clock::now() + pauseAfterFailure});
  try {
    const detail::Outcome outcome =
        transport_.send({"POST", "lease", Json::object().set("hwid", hwid), session, true},
                        (std::min)(limits.until, detail::Clock::now() + longestRenewal));
    const Json &lease = outcome.data["lease"];
    if (!outcome.ok || !lease.isString()) return;
    setFailedRenewal(std::nullopt);
    checked_.offline->keep(lease.string(), hwid, user, licenseKey, limits.isCurrent);
  } catch (const Error &) {
    // The program may run; a later call tries again.
  }
}

inline bool Client::isRenewalDue(const std::string &hwid, const std::string &userId) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failedRenewal_ && failedRenewal_->userId == userId && detail::Clock::now() < failedRenewal_->pausedUntil)
      return false;
  }
  return checked_.offline->isDue(hwid, userId);
}

inline void Client::setFailedRenewal(std::optional<FailedRenewal> failed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failedRenewal_ = std::move(failed);
}

inline Json Client::orOffline(const char *name, const Online &online, const detail::IsCurrent &isCurrent,
               const std::optional<std::string> &licenseKey) {
  const std::optional<std::string> hwid = checked_.offline ? findHwid() : std::nullopt;
  if (!hwid) return online(deadline());
  const auto fromStored = [&](const std::string &code, std::string &problem) -> std::optional<Json> {
    const detail::OfflineOutcome outcome = checked_.offline->answer(*hwid, licenseKey);
    problem = outcome.problem;
    if (!outcome.answer) return std::nullopt;
    LogEvent event{"offline", name};
    event.code = code;
    transport_.log(event);
    if (licenseKey) rememberKeyIfCurrent(licenseKey, isCurrent);
    const Json result = answerOffline(*outcome.answer, isCurrent);
    return isCurrent() ? result : overtaken();
  };
  const auto probe = [&] {
    if (isCurrent()) away_.probe([this, online] { online(deadline()); });
  };
  std::string problem;
  const bool canAnswer = checked_.offline->wouldAnswer(*hwid, licenseKey);
  if (const std::optional<std::string> code = canAnswer ? away_.code() : std::nullopt) {
    const std::optional<Json> answer = fromStored(*code, problem);
    probe();
    if (answer) return *answer;
  }
  try {
    return online(canAnswer ? (std::min)(deadline(), detail::Clock::now() + patience) : deadline());
  } catch (const NetworkError &error) {
    if (error.code == "unexpected_answer") throw;
    const std::optional<Json> answer = fromStored(error.code, problem);
    if (!answer) {
      NetworkError explained = error;
      explained.offline = problem;
      throw explained;
    }
    if (isCurrent()) away_.note(error);
    // The network may only be slow.
    if (error.code == "timed_out") probe();
    return *answer;
  }
}

inline std::optional<Json> Client::activated(const detail::IsCurrent &isCurrent) {
  const std::optional<std::string> hwid = checked_.offline ? findHwid() : std::nullopt;
  if (!hwid) return std::nullopt;
  const detail::OfflineOutcome outcome = checked_.offline->answerFromActivation(*hwid);
  if (!outcome.answer) return std::nullopt;
  LogEvent event{"offline", "session"};
  event.code = "sessionUnauthed";
  transport_.log(event);
  const Json result = answerOffline(*outcome.answer, isCurrent);
  return isCurrent() ? result : overtaken();
}

inline Json Client::answerOffline(const detail::OfflineAnswer &answer, const detail::IsCurrent &isCurrent) {
  Json user = answer.user;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Json variables = user["variables"];
    if (known_["_id"] == user["_id"])
      for (const Json::Member &one : known_["variables"].members()) variables.set(one.name, one.value);
    user.set("variables", variables);
  }
  signInIfCurrent(user, isCurrent);
  return Json::object().set("user", user).set("offline", answer.offline).set("ok", true);
}

inline std::string Client::offlineMachine(const std::string &name) {
  if (!checked_.offline) throw detail::wrongOption(name + " needs the option storage");
  const std::optional<std::string> hwid = findHwid();
  if (!hwid) throw UsageError("hwid_unavailable", name + " needs a hardware id");
  return *hwid;
}

}  // namespace keyward
