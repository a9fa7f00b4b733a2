#pragma once

#include "cryptography.hpp"
#include "dates.hpp"
#include "encodings.hpp"
#include "json.hpp"
#include "key_ring.hpp"
#include "platform.hpp"
#include "structured_fields.hpp"

namespace keyward::detail {

/** A statement of the server must be about this app and this device, and signed with one of these keys. */
struct Subject {
  std::string appId;
  std::string hwid;
  KeyRing keys;
};

/**
 * Verifies a compact JWS of the server: of this type, signed by a pinned key, for this app and this device. Returns its
 * claims, or nothing. Does not look at the clock.
 */
inline std::optional<Json> readStatement(std::string_view text, const char *type, const Subject &subject) {
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::optional<std::string> header = fromBase64Url(text.substr(0, first));
  const std::optional<std::string> claims = fromBase64Url(text.substr(first + 1, second - first - 1));
  const std::optional<std::string> signature = fromBase64Url(text.substr(second + 1));
  if (!header || !claims || !signature || signature->size() != 64) return std::nullopt;
  const Json head = Json::parse(*header).value_or(Json());
  if (head["alg"].string() != "EdDSA" || head["typ"].string() != type || !head["kid"].isString()) return std::nullopt;
  const std::string *key = findIn(subject.keys, head["kid"].string());
  if (!key || !verifyEd25519(*key, text.substr(0, second), *signature)) return std::nullopt;
  std::optional<Json> found = Json::parse(*claims);
  const bool isOurs = found && (*found)["iss"].string() == "keyward" && (*found)["aud"].string() == subject.appId &&
                      (*found)["hwid"].string() == toHex(sha256(subject.hwid));
  return isOurs ? found : std::nullopt;
}

/** A whole number that a date can show as seconds: up to the year 9999. */
inline bool isTime(const Json &value) {
  return value.isNumber() && value.number() >= 0 && value.number() < 253402300800.0 &&
         !(std::floor(value.number()) < value.number());
}

/** The claims of a lease; nothing unless all that decide are there. */
inline std::optional<Json> readLease(std::string_view text, const Subject &subject) {
  std::optional<Json> lease = readStatement(text, "keyward-lease+jws", subject);
  if (!lease) return std::nullopt;
  for (const char *name : {"iat", "exp", "refreshAfter", "graceUntil", "seq"})
    if (!isTime((*lease)[name])) return std::nullopt;
  return (*lease)["sub"].isString() && (*lease)["features"].isArray() ? lease : std::nullopt;
}

/** The claims of an activation; a missing end must not pass for none. */
inline std::optional<Json> readActivation(std::string_view text, const Subject &subject) {
  std::optional<Json> found = readStatement(text, "keyward-activation+jws", subject);
  if (!found) return std::nullopt;
  for (const char *name : {"sub", "nonce", "username", "term", "deactivation"})
    if (!(*found)[name].isString()) return std::nullopt;
  const Json *exp = found->find("exp");
  const Json *expiresAt = found->find("expiresAt");
  const bool hasEnds = exp && (exp->isNull() || isTime(*exp)) && expiresAt &&
                       (expiresAt->isNull() || parseIso(expiresAt->string()).has_value());
  const bool isGood = hasEnds && isTime((*found)["iat"]) && isTime((*found)["seq"]) && (*found)["features"].isArray();
  return isGood ? found : std::nullopt;
}

/** The ends of features that do not last as long as their statement, by name. */
inline Json featureEnds(const Json &statement) {
  Json ends = Json::object();
  for (const Json::Member &one : statement["featuresUntil"].members())
    if (isTime(one.value)) ends.set(one.name, one.value);
  return ends;
}

/** The features that hold at `now`, in seconds. */
inline Json featuresAt(const Json &statement, double now) {
  Json features = statement["features"];
  const Json ends = featureEnds(statement);
  for (const Json::Member &one : ends.members()) {
    const Json::Array &known = features.items();
    const bool isKnown = std::find(known.begin(), known.end(), Json(one.name)) != known.end();
    if (now < one.value.number() && !isKnown) features.push(one.name);
  }
  return features;
}

}  // namespace keyward::detail
