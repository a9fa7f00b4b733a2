#pragma once

#include "cryptography.hpp"
#include "encodings.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "platform.hpp"
#include "statements.hpp"

namespace keyward::detail {

inline bool Offline::isDue(const std::string &hwid, const std::string &userId) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::optional<Json> lease = readLease(load().all["lease"].string(), subject(hwid));
  return !lease || (*lease)["sub"].string() != userId || time_.now() >= (*lease)["refreshAfter"].number();
}

inline void Offline::keep(const std::string &text, const std::string &hwid, const Json &user,
          const std::optional<std::string> &licenseKey, const IsCurrent &isCurrent) {
  const std::optional<Json> lease = readLease(text, subject(hwid));
  if (!lease) return;
  alone([&](Kept &kept) {
    if (!isCurrent()) return;
    const std::optional<Json> stored = readLease(kept.all["lease"].string(), subject(hwid));
    const bool isSameUser = stored && (*stored)["sub"] == (*lease)["sub"];
    if (isOlder(*lease) || (isSameUser && (*stored)["seq"].number() > (*lease)["seq"].number())) return;
    see(*lease);
    const Json key = licenseKey ? Json(toHex(sha256(*licenseKey))) : isSameUser ? kept.all["key"] : Json();
    kept.all.set("lease", text).set("user", user).set("key", key);
    const double iat = (*lease)["iat"].number();
    const double latest = (std::max)(kept.all["latest"].number(), iat);
    // A clock that is ahead must not count: the server has just said what time it is.
    time_.note(kept.all, (std::min)(time_.now(), iat));
    kept.all.set("latest", latest);
    write(kept);
  });
}

inline void Offline::correctTime(double serverTime, const std::optional<std::string> &hwid) {
  const auto isAhead = [&](const Kept &kept) { return time_.floor(kept.all) > serverTime + clockToleranceS; };
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!isAhead(load())) return;
  }
  alone([&](Kept &kept) {
    const std::optional<Json> lease = hwid ? readLease(kept.all["lease"].string(), subject(*hwid)) : std::nullopt;
    const double latest = (std::max)(serverTime, lease ? (*lease)["iat"].number() : 0);
    if (!isAhead(kept)) return;
    time_.forget();
    kept.all.set("latest", (std::min)(kept.all["latest"].number(), latest));
    kept.all.erase("boot");
    write(kept);
  });
}

inline void Offline::forgetLease(const IsCurrent &isCurrent) {
  alone([&](Kept &kept) {
    if (!isCurrent()) return;
    clearLease(kept);
    const Json pending = kept.all["activation"]["pending"];
    if (pending.isNull())
      kept.all.erase("activation");
    else
      kept.all.set("activation", Json::object().set("pending", pending));
    write(kept);
  });
}

inline void Offline::forget() {
  alone([&](Kept &kept) {
    clearLease(kept);
    kept.all.erase("deviceToken");
    write(kept);
  });
}

inline void Offline::dropDeviceToken(const std::string &refused) {
  alone([&](Kept &kept) {
    if (kept.all["deviceToken"].text() != refused) return;
    kept.all.erase("deviceToken");
    write(kept);
  });
}

inline std::optional<std::string> Offline::deviceToken() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return load().all["deviceToken"].text();
}

inline void Offline::keepDeviceToken(const std::string &deviceToken, const IsCurrent &isCurrent) {
  alone([&](Kept &kept) {
    if (!isCurrent()) return;
    kept.all.set("deviceToken", deviceToken);
    write(kept);
  });
}

}  // namespace keyward::detail
