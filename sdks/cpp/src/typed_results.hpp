#pragma once

#include "json.hpp"
#include "platform.hpp"
#include "results.hpp"
#include "typed_updates.hpp"

namespace keyward::detail {

inline std::map<std::string, std::string> toTexts(const Json &value) {
  std::map<std::string, std::string> texts;
  for (const Json::Member &one : value.members())
    if (one.value.isString()) texts[one.name] = one.value.string();
  return texts;
}

inline int toInt(const Json &value) {
  const double number = value.number();
  return number >= -2147483648.0 && number <= 2147483647.0 ? static_cast<int>(number) : 0;
}

inline std::vector<std::string> toList(const Json &value) {
  std::vector<std::string> list;
  for (const Json &one : value.items())
    if (one.isString()) list.push_back(one.string());
  return list;
}

inline SessionUser toUser(const Json &from) {
  SessionUser user;
  user.id = from["_id"].string();
  user.username = from["username"].string();
  user.email = from["email"].text();
  user.expiresAt = from["expiresAt"].text();
  user.inGrace = from["inGrace"].isTrue();
  user.term = from["term"].string();
  user.createdAt = from["createdAt"].string();
  user.lastLoginAt = from["lastLoginAt"].text();
  user.hwidBound = from["hwidBound"].isTrue();
  user.features = toList(from["features"]);
  user.variables = toTexts(from["variables"]);
  user.updatesUntil = from["updatesUntil"].text();
  user.devices = {toInt(from["devices"]["used"]), toInt(from["devices"]["limit"])};
  if (from["updateAvailable"].isBoolean()) user.updateAvailable = from["updateAvailable"].isTrue();
  if (from["seat"].isObject()) user.seat = Seat{from["seat"]["until"].string()};
  user.links = toLinks(from["links"]);
  return user;
}

inline void readInto(const Json &from, UserData &data) {
  data.user = toUser(from["user"]);
  data.advisory = toAdvisory(from["advisory"]);
  const Json &offline = from["offline"];
  if (offline.isObject())
    data.offline = OfflineState{offline["until"].text(), offline["graceUntil"].text(), offline["inGrace"].isTrue()};
}

inline void readInto(const Json &from, InitData &data) {
  data.expiresAt = from["expiresAt"].string();
  data.app = {from["app"]["name"].string(), from["app"]["version"].string()};
  data.updateAvailable = from["updateAvailable"].isTrue();
  data.variables = toTexts(from["variables"]);
  data.advisory = toAdvisory(from["advisory"]);
}

inline void readInto(const Json &from, ValidateData &data) {
  const Json &license = from["license"];
  data.license.key = license["key"].string();
  data.license.used = license["used"].isTrue();
  data.license.username = license["username"].text();
  data.license.expiresAt = license["expiresAt"].text();
  data.license.inGrace = license["inGrace"].isTrue();
  data.license.term = license["term"].string();
  data.activated = from["activated"].isTrue();
}

inline void readInto(const Json &from, DevicesData &data) {
  for (const Json &one : from["devices"].items())
    data.devices.push_back({one["_id"].string(), one["name"].text(), one["system"].text(), one["firstSeenAt"].string(),
                            one["lastSeenAt"].string()});
}

inline void readInto(const Json &, Nothing &) {}

template <class Data>
Result<Data> toResult(Json json) {
  Result<Data> result;
  result.ok = json["ok"].isTrue();
  result.message = json["message"].string();
  if (result.ok) {
    readInto(json, result);
  } else {
    result.code = json["code"].string();
    result.reference = json["reference"].string();
    result.details = json["details"];
    result.offers = toOffers(result.details);
    for (const Json &one : json["errors"].items()) result.errors.push_back({one["path"].string(), one["message"].string()});
  }
  result.json = std::move(json);
  return result;
}

}  // namespace keyward::detail
