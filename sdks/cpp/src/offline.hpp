#pragma once

#include "clock.hpp"
#include "json.hpp"
#include "key_ring.hpp"
#include "options.hpp"
#include "platform.hpp"
#include "seen_time.hpp"
#include "statements.hpp"

namespace keyward::detail {

/** What a lease or an activation says in place of the server. */
struct OfflineAnswer {
  Json user;
  Json offline;
};

/** An answer, or why there is none. */
struct OfflineOutcome {
  std::optional<OfflineAnswer> answer = std::nullopt;
  std::string problem = "";
};

/** Whether no sign-out has begun since a call. */
using IsCurrent = std::function<bool()>;

/** Keeps the latest lease and the activation of a device, and answers with them while the server is not reached. */
class Offline {
 public:
  Offline(std::shared_ptr<Storage> storage, std::string appId, KeyRing keys, Now now, Now elapsed = systemElapsed)
      : storage_(std::move(storage)),
        appId_(std::move(appId)),
        keys_(std::move(keys)),
        time_(std::move(now), std::move(elapsed)) {}

  /** Whether a new lease is due for this user. */
  bool isDue(const std::string &hwid, const std::string &userId);

  /** Stores a lease that the server has just issued; ignores one that is not valid, or older than the stored one. */
  void keep(const std::string &text, const std::string &hwid, const Json &user,
            const std::optional<std::string> &licenseKey, const IsCurrent &isCurrent);

  /**
   * Corrects the latest time after a clock that was far ahead. `serverTime` is when the server signed the answer to a request
   * of just now; an attacker can neither choose nor repeat it.
   */
  void correctTime(double serverTime, const std::optional<std::string> &hwid);

  /** Forgets the lease and the activation after a refusal. */
  void forgetLease(const IsCurrent &isCurrent);

  /** Forgets everything but the time and the activation, after a sign-out. */
  void forget();

  /** Forgets a token that the server has refused, unless another program on this machine has stored a newer one. */
  void dropDeviceToken(const std::string &refused);

  std::optional<std::string> deviceToken();

  void keepDeviceToken(const std::string &deviceToken, const IsCurrent &isCurrent);

  /** Whether `answer` would answer now. */
  bool wouldAnswer(const std::string &hwid, const std::optional<std::string> &licenseKey);

  /** Answers from the lease or the activation. `licenseKey` must be the key that signed in, if it is given. */
  OfflineOutcome answer(const std::string &hwid, const std::optional<std::string> &licenseKey);

  /** Answers from the activation alone. */
  OfflineOutcome answerFromActivation(const std::string &hwid);

  /** The nonce of the request that waits for a file, 16 hex digits; a new one unless this key has one. */
  std::string requestNonce(const std::string &licenseKey);

  /** Accepts a file that answers the pending request. */
  OfflineOutcome activate(const std::string &file, const std::string &hwid);

  /** Forgets the activation and the pending request; returns the code, or nothing without an activation. */
  std::optional<std::string> deactivate(const std::string &hwid);

 private:
  /** What outlives the program: an object with the members that are described in the README. */
  struct Kept {
    Json all;
    /** Nothing may be written, or what is there would be lost. */
    bool isUnreadable = false;
  };

  static constexpr double clockToleranceS = 300;
  /** For a file, and for a lease of days: the clock may be set to the farthest time zone. */
  static constexpr double timeZoneToleranceS = 14 * 3600;
  static constexpr double daysLongS = 72 * 3600;
  static constexpr std::size_t longestFile = 1000000;

  Subject subject(const std::string &hwid) const { return {appId_, hwid, keys_}; }

  /** One change after the other, so that none is lost, also those of other programs. */
  template <class Change>
  void alone(Change change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool hasRun = false;
    const auto run = [&] {
      hasRun = true;
      Kept kept = load();
      change(kept);
    };
    try {
      storage_->lock(run);
    } catch (...) {
      if (hasRun) throw;
    }
    if (!hasRun) run();
  }

  OfflineOutcome accept(Kept &kept, const Json &activation, const std::string &line);

  static void clearLease(Kept &kept) { kept.all.set("lease", "").set("user", Json()).set("key", Json()); }

  static bool isRequest(const Json &value);

  Kept load();

  static void normalizeActivation(Json &all);

  /** Throws `UsageError` unless the change is stored. */
  void store(const Kept &kept);

  void write(const Kept &kept);

  /** A statement that helps now, or why none does. */
  struct Found {
    OfflineOutcome outcome;
    /** The time by which it was judged; nothing where nothing ends, which no clock concerns. */
    std::optional<double> now = std::nullopt;
    std::optional<Json> lease = std::nullopt;
  };

  static Found notFound(std::string problem) { return {{std::nullopt, std::move(problem)}}; }

  /** Why a statement that ends at `end` does not help now; else `now` becomes the time. */
  std::optional<std::string> judgeTime(const Kept &kept, const Json &statement, double end, double tolerance,
                                       double &now) const;

  Found find(const Kept &kept, const std::string &hwid, const std::optional<std::string> &licenseKey) const;

  Found findLeased(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const;

  Found findActivated(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const;

  /** Notes the time at which a statement was used, from which the clock cannot go back. */
  OfflineOutcome use(Kept &kept, const Found &found);

  /** Whether this program has seen a newer lease: an older one was copied back. */
  bool isOlder(const Json &lease) const;

  void see(const Json &lease) { seen_[lease["sub"].string()] = lease["seq"].number(); }

  static Json onlyTexts(const Json &value);

  std::optional<Json> keptActivation(const Kept &kept, const std::string &hwid) const;

  /** Each line of a file is the same statement under another key. */
  std::optional<Json> findActivation(const std::string &file, const std::string &hwid, std::string &line) const;

  static OfflineAnswer toActivated(const Json &activation, double now);

  std::shared_ptr<Storage> storage_;
  std::string appId_;
  KeyRing keys_;
  SeenTime time_;
  /** The highest number of a lease that this program has seen, by user. */
  std::map<std::string, double> seen_;
  std::mutex mutex_;
};

}  // namespace keyward::detail
