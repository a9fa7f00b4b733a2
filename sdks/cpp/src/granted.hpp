#pragma once

#include "errors.hpp"
#include "json.hpp"
#include "outcome.hpp"
#include "platform.hpp"

namespace keyward::detail {

inline NetworkError unexpected(const std::string &what) {
  return NetworkError("unexpected_answer", "The answer to " + what + " is incomplete", true);
}

/** A success in the form of the result; `required` is a member that it must have. */
inline Json granted(const Outcome &outcome, const char *required) {
  Json result = outcome.data;
  if (required && !result[required].isObject() && !result[required].isArray()) throw unexpected(required);
  if (outcome.message) result.set("message", *outcome.message);
  // Last: no field of a response may override the verdict.
  result.set("ok", true);
  return result;
}

}  // namespace keyward::detail
