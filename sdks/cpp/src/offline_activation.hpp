#pragma once

#include "cryptography.hpp"
#include "dates.hpp"
#include "encodings.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "platform.hpp"
#include "statements.hpp"
#include "text.hpp"

namespace keyward::detail {

inline std::string Offline::requestNonce(const std::string &licenseKey) {
  const std::string key = toHex(sha256(licenseKey));
  std::string nonce;
  alone([&](Kept &kept) {
    Json activation = kept.all["activation"].isObject() ? kept.all["activation"] : Json::object();
    nonce = activation["pending"]["nonce"].string();
    if (activation["pending"]["licenseKey"].string() == key) return;
    nonce = toHex(randomBytes(8));
    activation.set("pending", Json::object().set("nonce", nonce).set("licenseKey", key));
    kept.all.set("activation", activation);
    store(kept);
  });
  return nonce;
}

inline OfflineOutcome Offline::activate(const std::string &file, const std::string &hwid) {
  std::string line;
  const std::optional<Json> activation = findActivation(file, hwid, line);
  if (!activation) return {std::nullopt, "not_for_this_machine"};
  OfflineOutcome outcome;
  alone([&](Kept &kept) { outcome = accept(kept, *activation, line); });
  return outcome;
}

inline std::optional<std::string> Offline::deactivate(const std::string &hwid) {
  std::optional<std::string> code;
  alone([&](Kept &kept) {
    const std::optional<Json> activation = keptActivation(kept, hwid);
    if (!activation) return;
    kept.all.erase("activation");
    store(kept);
    code = (*activation)["deactivation"].string();
  });
  return code;
}

inline OfflineOutcome Offline::accept(Kept &kept, const Json &activation, const std::string &line) {
  const Json pending = kept.all["activation"]["pending"];
  if (!pending.isObject() || pending["nonce"] != activation["nonce"]) return {std::nullopt, "other_request"};
  const double now = time_.now();
  if (const Json &exp = activation["exp"]; !exp.isNull()) {
    if (now < activation["iat"].number() - timeZoneToleranceS) return {std::nullopt, "clock_set_back"};
    if (now >= exp.number()) return {std::nullopt, "lease_ended"};
  }
  // It answers a request of this machine, so that it is newer than a time that was seen: the clock was wrong.
  kept.all.set("latest", activation["iat"]);
  kept.all.erase("boot");
  kept.all.set("activation", Json(pending).set("file", line));
  store(kept);
  time_.forget();
  return {toActivated(activation, now), ""};
}

inline std::optional<Json> Offline::keptActivation(const Kept &kept, const std::string &hwid) const {
  const Json &stored = kept.all["activation"];
  if (!stored["file"].isString()) return std::nullopt;
  std::optional<Json> activation = readActivation(stored["file"].string(), subject(hwid));
  return activation && (*activation)["nonce"] == stored["nonce"] ? activation : std::nullopt;
}

inline std::optional<Json> Offline::findActivation(const std::string &file, const std::string &hwid, std::string &line) const {
  if (file.size() > longestFile) return std::nullopt;
  const auto isSpace = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const std::string text = trim(toValidUtf8(file));
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !isSpace(text[end])) end++;
    line = text.substr(at, end - at);
    if (!line.empty())
      if (std::optional<Json> found = readActivation(line, subject(hwid))) return found;
    at = end + 1;
  }
  return std::nullopt;
}

inline OfflineAnswer Offline::toActivated(const Json &activation, double now) {
  const Json &expiresAt = activation["expiresAt"];
  const Json &exp = activation["exp"];
  const bool isInGrace = expiresAt.isString() && now >= parseIso(expiresAt.string()).value_or(0);
  OfflineAnswer answer{Json::object(), Json::object()};
  answer.user.set("_id", activation["sub"])
      .set("username", activation["username"])
      .set("email", Json())
      .set("expiresAt", expiresAt)
      .set("inGrace", isInGrace)
      .set("term", activation["term"])
      .set("createdAt", toIso(activation["iat"].number()))
      .set("lastLoginAt", Json())
      .set("hwidBound", true)
      .set("features", featuresAt(activation, now))
      .set("variables", Json::object())
      .set("updatesUntil", Json())
      .set("devices", Json::object().set("used", 1).set("limit", 1))
      .set("seat", Json());
  const Json until = exp.isNull() ? Json() : Json(toIso(exp.number()));
  answer.offline.set("until", until).set("graceUntil", until).set("inGrace", false);
  return answer;
}

}  // namespace keyward::detail
