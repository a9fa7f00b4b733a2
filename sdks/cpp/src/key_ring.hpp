#pragma once

#include "encodings.hpp"
#include "json.hpp"
#include "option_errors.hpp"
#include "platform.hpp"
#include "structured_fields.hpp"

namespace keyward::detail {

/** The public keys of 32 bytes by their `kid`, in the order of the option. */
using KeyRing = std::vector<std::pair<std::string, std::string>>;

/**
 * Reads the Ed25519 signing keys of a JWK set and ignores keys of other kinds, as RFC 7517 requires. Throws `UsageError` if
 * no key is left, or one is malformed or private.
 */
inline KeyRing toKeyRing(const Json &publicKeys) {
  const auto wrong = [](const std::string &message) { return wrongOption("publicKeys: " + message); };
  if (!publicKeys.isObject() && !publicKeys.isArray()) throw wrong("expected a JWK set");
  const Json *listed = publicKeys.isObject() ? publicKeys.find("keys") : &publicKeys;
  const Json one = Json::array({publicKeys});
  const Json &list = listed ? *listed : one;
  if (!list.isArray()) throw wrong("expected an array of keys");
  KeyRing ring;
  for (const Json &jwk : list.items()) {
    if (!jwk.isObject()) throw wrong("a key is not an object");
    if (jwk.find("d")) throw wrong("a private key must never be part of a program");
    const bool isSigning = jwk["use"].isNull() || jwk["use"].string() == "sig";
    if (jwk["kty"].string() != "OKP" || jwk["crv"].string() != "Ed25519" || !isSigning) continue;
    if (jwk["status"].string() == "revoked") continue;
    const std::string &kid = jwk["kid"].string();
    const bool isGood = !kid.empty() && kid.size() <= 256 &&
                        std::all_of(kid.begin(), kid.end(), [](char c) { return c >= 0x20 && c <= 0x7e && c != ','; });
    if (!isGood) throw wrong("a key has no kid");
    if (findIn(ring, kid)) throw wrong("kid " + kid + " is there twice");
    const std::optional<std::string> x = jwk["x"].isString() ? fromBase64Url(jwk["x"].string()) : std::nullopt;
    if (!x || x->size() != 32) throw wrong("the key " + kid + " is broken");
    ring.emplace_back(kid, *x);
  }
  if (ring.empty()) throw wrong("expected at least one Ed25519 key");
  return ring;
}

}  // namespace keyward::detail
