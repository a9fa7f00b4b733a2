#pragma once

#include "cryptography.hpp"
#include "dates.hpp"
#include "encodings.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "platform.hpp"
#include "statements.hpp"

namespace keyward::detail {

inline bool Offline::wouldAnswer(const std::string &hwid, const std::optional<std::string> &licenseKey) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return find(load(), hwid, licenseKey).outcome.answer.has_value();
}

inline OfflineOutcome Offline::answer(const std::string &hwid, const std::optional<std::string> &licenseKey) {
  OfflineOutcome outcome;
  alone([&](Kept &kept) { outcome = use(kept, find(kept, hwid, licenseKey)); });
  return outcome;
}

inline OfflineOutcome Offline::answerFromActivation(const std::string &hwid) {
  OfflineOutcome outcome;
  alone([&](Kept &kept) { outcome = use(kept, findActivated(kept, hwid, std::nullopt)); });
  return outcome;
}

inline std::optional<std::string> Offline::judgeTime(const Kept &kept, const Json &statement, double end,
                                                     double tolerance, double &now) const {
  const double clock = time_.now();
  const double floor = (std::max)(time_.floor(kept.all), statement["iat"].number());
  if (clock < floor - tolerance) return "clock_set_back";
  // A clock that lags must not hold up the time that is noted: it could be set back again after every restart.
  now = (std::max)(clock, floor);
  if (now >= end) return "lease_ended";
  return std::nullopt;
}

inline Offline::Found Offline::find(const Kept &kept, const std::string &hwid, const std::optional<std::string> &licenseKey) const {
  const std::optional<std::string> key =
      licenseKey ? std::optional<std::string>(toHex(sha256(*licenseKey))) : std::nullopt;
  Found leased = findLeased(kept, hwid, key);
  if (leased.outcome.answer) return leased;
  Found activated = findActivated(kept, hwid, key);
  return activated.outcome.answer || leased.outcome.problem == "no_lease" ? activated : leased;
}

inline Offline::Found Offline::findLeased(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const {
  const std::optional<Json> lease = readLease(kept.all["lease"].string(), subject(hwid));
  if (!lease || kept.all["user"].isNull() || isOlder(*lease)) return notFound("no_lease");
  if (key && kept.all["key"].text() != key) return notFound("no_lease");
  const double end = (*lease)["graceUntil"].number();
  const bool isDaysLong = end - (*lease)["iat"].number() >= daysLongS;
  double now = 0;
  if (const auto problem = judgeTime(kept, *lease, end, isDaysLong ? timeZoneToleranceS : clockToleranceS, now))
    return notFound(*problem);
  OfflineAnswer answer{kept.all["user"], Json::object()};
  answer.user.set("_id", (*lease)["sub"])
      .set("features", featuresAt(*lease, now))
      .set("variables", onlyTexts((*lease)["variables"]));
  answer.offline.set("until", toIso((*lease)["exp"].number()))
      .set("graceUntil", toIso((*lease)["graceUntil"].number()))
      .set("inGrace", now >= (*lease)["exp"].number());
  return {{answer, ""}, now, lease};
}

inline Offline::Found Offline::findActivated(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const {
  const std::optional<Json> activation = keptActivation(kept, hwid);
  if (!activation || (key && kept.all["activation"]["licenseKey"].string() != *key)) return notFound("no_lease");
  const Json &exp = (*activation)["exp"];
  if (exp.isNull() && featureEnds(*activation).members().empty()) return {{toActivated(*activation, time_.now()), ""}};
  constexpr double never = std::numeric_limits<double>::infinity();
  double now = 0;
  const auto problem = judgeTime(kept, *activation, exp.number(never), timeZoneToleranceS, now);
  if (!problem) return {{toActivated(*activation, now), ""}, now};
  // A file without an end goes on, without the features that end.
  return exp.isNull() ? Found{{toActivated(*activation, never), ""}} : notFound(*problem);
}

inline OfflineOutcome Offline::use(Kept &kept, const Found &found) {
  if (found.lease) see(*found.lease);
  if (found.now && time_.note(kept.all, *found.now)) write(kept);
  return found.outcome;
}

inline bool Offline::isOlder(const Json &lease) const {
  const auto seen = seen_.find(lease["sub"].string());
  return seen != seen_.end() && lease["seq"].number() < seen->second;
}

inline Json Offline::onlyTexts(const Json &value) {
  Json texts = Json::object();
  for (const Json::Member &one : value.members())
    if (one.value.isString()) texts.set(one.name, one.value);
  return texts;
}

}  // namespace keyward::detail
