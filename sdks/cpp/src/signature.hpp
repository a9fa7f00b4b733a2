#pragma once

#include "cryptography.hpp"
#include "encodings.hpp"
#include "errors.hpp"
#include "json.hpp"
#include "key_ring.hpp"
#include "platform.hpp"
#include "structured_fields.hpp"
#include "text.hpp"

namespace keyward::detail {

/** No genuine response is larger; reading stops beyond. */
inline constexpr std::size_t maxAnswerBytes = 256 * 1024;

/** The parts of a request that the response's signature must cover. */
struct SentRequest {
  std::string method;
  /** Path of the public address, percent-encoded as sent, without the query. */
  std::string path;
  std::string nonce;
  std::optional<std::string> authorization = std::nullopt;
  std::optional<std::string> contentDigest = std::nullopt;
};

struct ReceivedAnswer {
  int status = 0;
  /** Names in lower case. */
  std::vector<std::pair<std::string, std::string>> headers;
  /** The raw bytes, before any parsing; cut off somewhere beyond `maxAnswerBytes`. */
  std::string body;

  /** The values of a header joined by a comma and a space, without white space at the ends. */
  std::string header(std::string_view name) const {
    std::string joined;
    bool first = true;
    for (const auto &[each, value] : headers) {
      if (each != name) continue;
      if (!first) joined += ", ";
      first = false;
      joined += value;
    }
    const std::size_t start = joined.find_first_not_of(" \t\r\n");
    if (start == std::string::npos) return "";
    return joined.substr(start, joined.find_last_not_of(" \t\r\n") - start + 1);
  }
};

/** The value of `Content-Digest` (RFC 9530) for a body. */
inline std::string contentDigest(std::string_view body) { return "sha-256=:" + toBase64(sha256(body)) + ":"; }

using Components = std::vector<std::pair<std::string, std::string>>;

/** The components that a response must cover, in the protocol's order, with the expected values. */
inline Components expectedComponents(const SentRequest &sent, const ReceivedAnswer &answer) {
  Components components = {{"\"@status\"", std::to_string(answer.status)},
                           {"\"content-digest\"", answer.header("content-digest")},
                           {"\"@method\";req", sent.method},
                           {"\"@path\";req", sent.path},
                           {"\"keyward-nonce\";req", sent.nonce}};
  if (sent.authorization) components.emplace_back("\"authorization\";req", *sent.authorization);
  if (sent.contentDigest) components.emplace_back("\"content-digest\";req", *sent.contentDigest);
  return components;
}

inline std::string joinNames(const Components &components) {
  std::string out;
  for (const auto &one : components) out += (out.empty() ? "" : " ") + one.first;
  return out;
}

/** The text that the server signed (RFC 9421, section 2.5). */
inline std::string signatureBase(const SentRequest &sent, const ReceivedAnswer &answer, std::int64_t created,
                                 std::string_view keyid) {
  const Components components = expectedComponents(sent, answer);
  std::string base;
  for (const auto &[name, value] : components) base += name + ": " + value + "\n";
  base += "\"@signature-params\": (" + joinNames(components) + ");created=" + std::to_string(created) +
          ";keyid=" + serializeString(keyid) + ";alg=\"ed25519\"";
  return base;
}

inline bool hasLabel(const std::string &value) {
  if (value.empty()) return false;
  try {
    return findIn(DictionaryParser(value).parse(), "keyward") != nullptr;
  } catch (const StructuredFieldError &) {
    // Malformed is not absent: the verification reports what is wrong.
    return true;
  }
}

/** Whether a response has a signature with the protocol's label, valid or not. */
inline bool isSigned(const ReceivedAnswer &answer) {
  return hasLabel(answer.header("signature")) || hasLabel(answer.header("signature-input"));
}

inline std::string componentName(const Item &item) {
  if (item.value.type != BareItem::Type::string) return "";
  std::string name = serializeString(item.value.text);
  for (const auto &[key, flag] : item.params)
    name += ";" + key + (flag.type == BareItem::Type::boolean && flag.flag ? "" : "=?");
  return name;
}

inline bool digestMatches(const ReceivedAnswer &answer) {
  try {
    const Dictionary digests = DictionaryParser(answer.header("content-digest")).parse();
    const Entry *digest = findIn(digests, "sha-256");
    return digest && !digest->isList && digest->item.value.type == BareItem::Type::bytes &&
           digest->item.value.text == sha256(answer.body);
  } catch (const StructuredFieldError &) {
    return false;
  }
}

struct SignatureParameters {
  std::int64_t created;
  std::string keyid;
};

inline std::optional<SignatureParameters> readParameters(const Parameters &params) {
  if (params.size() != 3 || params[0].first != "created" || params[1].first != "keyid" || params[2].first != "alg")
    return std::nullopt;
  const BareItem &created = params[0].second;
  const BareItem &keyid = params[1].second;
  const BareItem &alg = params[2].second;
  if (created.type != BareItem::Type::integer || created.number < 0) return std::nullopt;
  if (keyid.type != BareItem::Type::string || alg.type != BareItem::Type::string || alg.text != "ed25519")
    return std::nullopt;
  return SignatureParameters{created.number, keyid.text};
}

/** What a genuine signature says. */
struct Verified {
  /** The text that was signed. */
  std::string base;
  /** When the server signed it, in seconds since 1970. */
  std::int64_t created = 0;
};

/**
 * Verifies that a response is genuine, complete and meant for exactly this request; throws `SignatureError` otherwise.
 */
inline Verified verifyAnswer(const SentRequest &sent, const ReceivedAnswer &answer, const KeyRing &keys) {
  const auto refused = [&](const char *code, const std::string &message) {
    return SignatureError(code, message + " (" + sent.method + " " + sent.path + ")", answer.status);
  };
  const auto dictionary = [&](const char *name) {
    try {
      return DictionaryParser(answer.header(name)).parse();
    } catch (const StructuredFieldError &error) {
      throw refused("malformed_signature", std::string(name) + ": " + error.what());
    }
  };
  if (answer.body.size() > maxAnswerBytes)
    throw refused("body_too_large", "The answer is larger than " + std::to_string(maxAnswerBytes) + " bytes");
  const Dictionary inputs = dictionary("signature-input");
  const Dictionary signatures = dictionary("signature");
  const Entry *input = findIn(inputs, "keyward");
  const Entry *signature = findIn(signatures, "keyward");
  if (!input || !input->isList || !signature || signature->isList ||
      signature->item.value.type != BareItem::Type::bytes)
    throw refused("malformed_signature", "The signature is incomplete");
  if (signature->item.value.text.size() != 64 || !signature->item.params.empty())
    throw refused("malformed_signature", "The signature is not one of Ed25519");
  const Components expected = expectedComponents(sent, answer);
  const bool isCovered = std::equal(input->items.begin(), input->items.end(), expected.begin(), expected.end(),
                                    [](const Item &item, const auto &one) { return componentName(item) == one.first; });
  if (!isCovered) throw refused("wrong_coverage", "The signature must cover " + joinNames(expected));
  const std::optional<SignatureParameters> parameters = readParameters(input->params);
  if (!parameters) throw refused("wrong_parameters", "The signature has other parameters");
  const std::string *key = findIn(keys, parameters->keyid);
  if (!key) throw refused("unknown_key", "Signed with the unknown key " + parameters->keyid);
  if (!digestMatches(answer)) throw refused("digest_mismatch", "The body does not match its Content-Digest");
  std::string base = signatureBase(sent, answer, parameters->created, parameters->keyid);
  if (!verifyEd25519(*key, base, signature->item.value.text))
    throw refused("bad_signature", "The signature is not of this answer to this request");
  return {std::move(base), parameters->created};
}

/**
 * Explains an unsigned response: a captive portal, another site, a missing app, or something on the way. Anyone on the
 * network can send these, as they can drop the request, so they are never a verdict.
 */
inline NetworkError toStranger(const ReceivedAnswer &answer) {
  const int status = answer.status;
  const std::string type = lowerAscii(answer.header("content-type"));
  const auto isType = [&](std::string_view name) {
    return type.substr(0, name.size()) == name && (type.size() == name.size() || !isWord(type[name.size()]));
  };
  if (isType("text/html") || isType("application/xhtml+xml") || status == 511 || (status >= 300 && status < 400))
    return NetworkError("captive_portal",
                        "A web page answered: a captive portal, or baseUrl is the address of another site", true, status);
  if (status == 404 || status == 405)
    return NetworkError("wrong_address", "No Keyward server answers at baseUrl (status " + std::to_string(status) + ")",
                        false, status);
  const std::optional<Json> body = status == 403 ? Json::parse(answer.body) : std::nullopt;
  if (body && (*body)["code"].string() == "appDisabled")
    return NetworkError("unknown_app", "The server has no app with this appId", false, status);
  return NetworkError("blocked",
                      "A firewall, a proxy or another server answered in place of the server (status " +
                          std::to_string(status) + ")",
                      true, status);
}

/**
 * Returns true for a verdict, false for `unavailable` (429 and 5xx, signed or not). Throws `NetworkError` for any other
 * response without a signature, and `SignatureError` for one whose signature fails. `verified` becomes what its signature
 * says.
 */
inline bool judge(const SentRequest &sent, const ReceivedAnswer &answer, const KeyRing &keys, Verified &verified) {
  const bool isUnavailable = answer.status == 429 || answer.status >= 500;
  const bool hasSignature = isSigned(answer);
  if (!hasSignature && (!isUnavailable || answer.status == 511)) throw toStranger(answer);
  if (hasSignature) verified = verifyAnswer(sent, answer, keys);
  return !isUnavailable;
}

}  // namespace keyward::detail
