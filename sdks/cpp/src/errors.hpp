#pragma once

#include "platform.hpp"

namespace keyward {

/** Base class of all errors that the SDK throws. A refused license is a result, not an error. */
class Error : public std::runtime_error {
 public:
  Error(std::string theCode, const std::string &message) : std::runtime_error(message), code(std::move(theCode)) {}

  std::string code;
};

/**
 * No verdict, because there is no usable response. Retry later; do not treat it as a refusal. `code` is `unreachable`,
 * `certificate`, `clock`, `connection_lost`, `timed_out`, `rate_limited`, `server_error`, `captive_portal`, `wrong_address`,
 * `unknown_app`, `blocked` or `unexpected_answer`.
 */
class NetworkError : public Error {
 public:
  NetworkError(std::string theCode, const std::string &message, bool unknown, std::optional<int> theStatus = {},
               std::optional<std::int64_t> retryAfter = {})
      : Error(std::move(theCode), message), status(theStatus), retryAfterMs(retryAfter), outcomeUnknown(unknown) {}

  /** The HTTP status, if there was a response. */
  std::optional<int> status;
  /** How long the server asks to wait, if it sent Retry-After. */
  std::optional<std::int64_t> retryAfterMs;
  /**
   * True if the server may have executed the call although no response arrived. After `register_`, try `login`; after
   * `upgrade`, check the user's expiry.
   */
  bool outcomeUnknown;
  /** Why the stored lease or activation could not stand in for the server: `no_lease`, `lease_ended` or `clock_set_back`. */
  std::optional<std::string> offline;
};

/**
 * A response with a signature that does not prove it to be the server's response to this request. Do not continue. `code`
 * is `malformed_signature`, `wrong_coverage`, `wrong_parameters`, `unknown_key`, `digest_mismatch`, `bad_signature` or
 * `body_too_large`.
 */
class SignatureError : public Error {
 public:
  SignatureError(std::string theCode, const std::string &message, int theStatus)
      : Error(std::move(theCode), message), status(theStatus) {}

  /** The HTTP status of the rejected response. */
  int status;
};

/**
 * A mistake in the calling program; retrying does not help. `code` is `invalid_options`, `invalid_argument`,
 * `hwid_unavailable`, `hwid_unreadable`, `crypto_unavailable`, `activation_rejected`, `no_activation` or `storage_failed`.
 */
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace keyward
