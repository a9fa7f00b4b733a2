#pragma once

#include "address.hpp"
#include "clock.hpp"
#include "cryptography.hpp"
#include "encodings.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "http.hpp"
#include "json.hpp"
#include "key_ring.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "platform.hpp"
#include "signature.hpp"

namespace keyward::detail {

inline std::int64_t millisecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

/** Sends calls, accepts only signed responses, and retries what is safe to repeat. */
class Transport {
 public:
  Transport(Address address, std::string appId, KeyRing keys, std::optional<Proxy> proxy,
            std::function<void(const LogEvent &)> log)
      : address_(std::move(address)),
        appId_(std::move(appId)),
        keys_(std::move(keys)),
        log_(std::move(log)),
        http_(std::move(proxy), stopped_) {}

  /** Ends what is under way, with errors. */
  void stop() { stopped_ = true; }

  /** No attempt or pause exceeds the deadline. */
  Outcome send(const Call &call, Clock::time_point deadline) {
    for (int attempt = 1;; attempt++) {
      const Clock::time_point start = Clock::now();
      std::int64_t pauseMs = 0;
      try {
        Outcome outcome = sendOnce(call, attempt, deadline);
        LogEvent event = toEvent("response", call, attempt, start);
        event.status = outcome.status;
        const Json &facts = outcome.ok ? outcome.data : outcome.refused;
        event.code = facts["code"].text();
        event.reference = facts["reference"].text();
        log(event);
        return outcome;
      } catch (const NetworkError &error) {
        LogEvent event = toEvent("failed", call, attempt, start);
        event.code = error.code;
        event.status = error.status;
        pauseMs = toPauseMs(attempt, error.retryAfterMs.value_or(0));
        if (attempt == maxAttempts || stopped_ || !mayRepeat(call, error) ||
            Clock::now() + std::chrono::milliseconds(pauseMs) >= deadline) {
          log(event);
          throw;
        }
        event.event = "retry";
        event.delayMs = pauseMs;
        log(event);
      } catch (const SignatureError &error) {
        LogEvent event = toEvent("failed", call, attempt, start);
        event.code = error.code;
        event.status = error.status;
        log(event);
        throw;
      }
      const Clock::time_point next = Clock::now() + std::chrono::milliseconds(pauseMs);
      for (Clock::time_point now = Clock::now(); now < next && !stopped_; now = Clock::now())
        std::this_thread::sleep_for((std::min<Clock::duration>)(next - now, betweenLooks));
    }
  }

  /** A file of any server. */
  ReceivedAnswer fetch(const Exchange &request, std::int64_t timeoutMs) { return http_.exchange(request, timeoutMs); }

  /** When the server signed its last verdict, in seconds since 1970. The clock of this machine has no part in it. */
  std::optional<double> serverTime() const {
    const std::int64_t time = serverTime_;
    return time < 0 ? std::nullopt : std::optional<double>(static_cast<double>(time));
  }

  /** A hook must not change the result of a call, whatever it does. */
  void log(const LogEvent &event) const {
    if (!log_) return;
    try {
      log_(event);
    } catch (...) {
    }
  }

 private:
  static constexpr int maxAttempts = 3;
  static constexpr std::int64_t firstPauseMs = 250;
  static constexpr std::int64_t longestPauseMs = 4000;

  /** Only the first part of a name: the others are ids. */
  static LogEvent toEvent(const char *kind, const Call &call, int attempt, std::optional<Clock::time_point> start) {
    LogEvent event;
    event.event = kind;
    event.call = call.name.substr(0, call.name.find('/'));
    event.attempt = attempt;
    if (start) event.durationMs = millisecondsSince(*start);
    return event;
  }

  /**
   * A signed 429 was sent before any work, so even non-repeatable calls can be retried. A proxy may send an unsigned one
   * after it lost the answer of a request that it passed on.
   */
  static bool mayRepeat(const Call &call, const NetworkError &error) {
    static const std::set<std::string> &lasting = *new std::set<std::string>{
        "unexpected_answer", "captive_portal", "wrong_address", "unknown_app",
        "blocked", "certificate", "clock"};
    // A proxy that rejects the credentials would lock their account after a few more attempts.
    if (lasting.count(error.code) > 0 || error.status == 407) return false;
    return call.isRepeatable || !error.outcomeUnknown;
  }

  static std::int64_t toPauseMs(int attempt, std::int64_t retryAfterMs) {
    const std::int64_t ceiling = (std::min)(longestPauseMs, firstPauseMs << attempt);
    thread_local std::mt19937 random{std::random_device{}()};
    return retryAfterMs + std::uniform_int_distribution<std::int64_t>(ceiling / 2, ceiling)(random);
  }

  Outcome sendOnce(const Call &call, int attempt, Clock::time_point deadline) {
    const std::int64_t leftMs =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (leftMs <= 0) throw NetworkError("timed_out", "The time for this call is used up", false);
    // Leave time for a retry, so that one hanging connection does not use up the whole timeout.
    const std::int64_t attemptMs = call.isRepeatable && attempt < maxAttempts ? (leftMs + 1) / 2 : leftMs;
    SentRequest sent;
    const Exchange request = prepare(call, sent);
    log(toEvent("request", call, attempt, std::nullopt));
    const ReceivedAnswer answer = http_.exchange(request, attemptMs);
    Verified verified;
    if (!judge(sent, answer, keys_, verified)) throw toUnavailable(answer);
    serverTime_ = verified.created;
    return toOutcome(answer);
  }

  Exchange prepare(const Call &call, SentRequest &sent) const {
    sent.method = call.method;
    sent.path = address_.prefix + "/api/client/" + call.name;
    sent.nonce = toBase64Url(randomBytes(24));
    Exchange request;
    request.origin = address_.origin;
    request.path = sent.path;
    request.method = call.method;
    request.isRepeatable = call.isRepeatable;
    std::string kids;
    for (const auto &one : keys_) kids += (kids.empty() ? "" : ",") + one.first;
    // The digest covers the bytes on the wire.
    request.headers = {{"accept", "application/json"},
                       {"accept-encoding", "identity"},
                       {"keyward-nonce", sent.nonce},
                       {"keyward-keys", kids}};
    if (call.session) {
      sent.authorization = "Bearer " + *call.session;
      request.headers.emplace_back("authorization", *sent.authorization);
      request.headers.emplace_back("keyward-app", appId_);
    }
    if (call.body) {
      request.body = call.body->dump();
      sent.contentDigest = contentDigest(*request.body);
      request.headers.emplace_back("content-type", "application/json");
      request.headers.emplace_back("content-digest", *sent.contentDigest);
    }
    return request;
  }

  Address address_;
  std::string appId_;
  KeyRing keys_;
  std::function<void(const LogEvent &)> log_;
  std::atomic<bool> stopped_{false};
  Http http_;
  std::atomic<std::int64_t> serverTime_{-1};
};

}  // namespace keyward::detail
