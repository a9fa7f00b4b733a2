#pragma once

#include "clock.hpp"
#include "dates.hpp"
#include "errors.hpp"
#include "json.hpp"
#include "platform.hpp"
#include "signature.hpp"
#include "text.hpp"

namespace keyward::detail {

struct Call {
  std::string method;
  /** Path below `/api/client/`. */
  std::string name;
  std::optional<Json> body = std::nullopt;
  std::optional<std::string> session = std::nullopt;
  /** Whether executing the call twice has the same effect as once. */
  bool isRepeatable = false;
};

/** A signed answer that is a verdict. */
struct Outcome {
  bool ok = false;
  int status = 0;
  std::optional<std::string> message = std::nullopt;
  /** The data of a success, an object. */
  Json data = Json::object();
  /** A refusal, in the form of the result. */
  Json refused = Json::object();
};

inline void copyRefusalFacts(const Json &from, Json &refused) {
  if (from["reference"].isString()) refused.set("reference", from["reference"]);
  if (from["details"].isObject()) refused.set("details", from["details"]);
}

inline Outcome toOutcome(const ReceivedAnswer &answer) {
  const std::optional<Json> parsed = Json::parse(answer.body);
  const Json answered = parsed && parsed->isObject() ? *parsed : Json();
  Outcome outcome;
  outcome.status = answer.status;
  outcome.message = answered["message"].text();
  if (answer.status < 300 && answered["success"].isTrue()) {
    outcome.ok = true;
    if (answered["data"].isObject()) outcome.data = answered["data"];
    return outcome;
  }
  if (answer.status >= 400 && answered["success"].isFalse() && answered["code"].isString()) {
    const std::string &code = answered["code"].string();
    outcome.refused.set("ok", false).set("code", code).set("message", outcome.message.value_or(code));
    if (answered["errors"].isArray()) outcome.refused.set("errors", answered["errors"]);
    copyRefusalFacts(answered, outcome.refused);
    return outcome;
  }
  throw NetworkError("unexpected_answer", "The answer with status " + std::to_string(answer.status) + " is unknown", true,
                     answer.status);
}

inline std::optional<std::int64_t> parseRetryAfter(const std::string &value) {
  if (value.empty()) return std::nullopt;
  if (value.size() <= 9 && std::all_of(value.begin(), value.end(), isDigit)) return std::stoll(value) * 1000;
  const std::optional<std::int64_t> date = parseHttpDate(value);
  if (!date) return std::nullopt;
  const double left = (static_cast<double>(*date) - systemNow()) * 1000;
  return left <= 0 ? 0 : static_cast<std::int64_t>(left);
}

inline NetworkError toUnavailable(const ReceivedAnswer &answer) {
  const int status = answer.status;
  const std::optional<std::int64_t> retryAfterMs = parseRetryAfter(answer.header("retry-after"));
  if (status != 429)
    return NetworkError("server_error", "The server answered " + std::to_string(status), true, status, retryAfterMs);
  const std::string wait = retryAfterMs.value_or(0) > 0
                               ? "in " + std::to_string((*retryAfterMs + 999) / 1000) + " seconds"
                               : std::string("later");
  // Without a signature anyone may have sent this after the server executed the request.
  return NetworkError("rate_limited", "Too many attempts; try again " + wait, !isSigned(answer), status, retryAfterMs);
}

}  // namespace keyward::detail
