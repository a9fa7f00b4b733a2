#pragma once

#include "away.hpp"
#include "clock.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "option_checks.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "platform.hpp"
#include "results.hpp"
#include "shared.hpp"
#include "transport.hpp"
#include "typed_results.hpp"

namespace keyward {

/**
 * A program's client for its Keyward server. Each call blocks and returns a `Result`: `ok` with data, or not `ok` with `code`
 * and `message` if the server refuses. Throws `NetworkError` without a usable response, `SignatureError` for a response that
 * is not genuine, `UsageError` for an invalid call. One client may be used by many threads at the same time.
 */
class Client {
 public:
  /** Throws `UsageError` (`invalid_options`) if an option is missing or invalid. Sends nothing. */
  explicit Client(Options options) : Client(std::move(options), detail::systemNow) {}

  /**
   * `now` replaces the clock that leases and activations are compared with, for tests: seconds since 1970. `elapsed` replaces
   * the one that counts on whatever the user sets: seconds since any time.
   */
  Client(Options options, std::function<double()> now, std::function<double()> elapsed = detail::systemElapsed)
      : checked_(detail::checkOptions(std::move(options), std::move(now), elapsed)),
        transport_(checked_.address, checked_.options.appId, checked_.keys, checked_.proxy, checked_.options.log),
        away_(std::move(elapsed)) {}

  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;
  /** Ends a request of the background within about a second. */
  ~Client() { transport_.stop(); }

  /**
   * Opens a session and reports whether the app is enabled and has a newer version. Other calls do this when needed. Calling
   * it again starts a new session, signed out.
   */
  Result<InitData> init();

  /**
   * Creates an end user from an unused license key and signs in. Never retried automatically: after a `NetworkError` with
   * `outcomeUnknown`, try `login` to find out whether it succeeded. The underscore is there because `register` is a keyword.
   */
  Result<UserData> register_(const Registration &registration);

  /** Signs an end user in by username and password; the first sign-in binds the user to this machine. */
  Result<UserData> login(const Credentials &credentials);

  /** Signs in by license key alone; the first use redeems the key and binds it to this machine. */
  Result<UserData> license(const std::string &licenseKey);

  /**
   * Redeems a key for an end user and adds the key's remaining time. Never retried automatically: after a `NetworkError` with
   * `outcomeUnknown`, compare the user's `expiresAt`.
   */
  Result<UserData> upgrade(const Upgrade &upgrade);

  /**
   * Returns the signed-in user and its expiry; call it before every unit of work. A ban, pause or expiry is reported from the
   * next call on. `sessionUnauthed` means that no user is signed in. After `license` it signs in again by itself once the
   * session has ended, and with the option `storage` also after a restart, if the vendor lets the app remember sign-ins.
   */
  Result<UserData> session();

  /**
   * Ends the session. Always succeeds locally, even if the server is not reached or there is no session. A sign-in or `session`
   * that is still under way ends with `sessionUnauthed`, also if the server grants it.
   */
  Result<Nothing> logout();

  /**
   * Starts the only trial of this machine, or signs in to it while it runs; then `trialUsed`. Without a hardware id the server
   * refuses.
   */
  Result<UserData> trial(const Trial &trial = {});

  /** Lists the devices of the signed-in user, if the app lets users free devices. */
  Result<DevicesData> devices();

  /**
   * Frees a device of the signed-in user, so that another one can take its place. `device_cooldown` says in `details.until`
   * when the next may be freed. Never retried automatically.
   */
  Result<Nothing> freeDevice(const std::string &deviceId);

  /**
   * Checks a license in one call, without signing in. `ok` only if it can be used now on this machine. Without `activate` it
   * binds nothing, so an unused key is valid on any number of machines: prefer `license`, or pass `{true}`, which redeems an
   * unused key and binds this machine.
   */
  Result<ValidateData> validate(const std::string &licenseKey, const ValidateOptions &options = {});

  /**
   * Finds the newest version that the license covers and that this one may update to. A program that nobody is signed in to
   * passes `licenseKey`; that also finds it after `noActiveSubs`, `updatesEnded`, `versionTooOld` and `noSeats`.
   */
  Result<UpdateData> checkForUpdate(const UpdateQuery &query = {});

  /**
   * Downloads the file of an update into a folder and returns its path. The file appears there only if its size and SHA-512
   * are those that the server has signed, else `SignatureError` (`digest_mismatch`). After a `NetworkError` the next call goes
   * on where this one stopped. Follows redirects, over `https` alone.
   */
  std::string downloadUpdate(const Update &update, const std::string &folder, const Progress &onProgress = {});

  /**
   * Whether the license of the signed-in user includes a feature, by the last answer to a sign-in or `session`. False before,
   * and after a refusal or `logout`.
   */
  bool has(const std::string &feature) const;

  /**
   * A variable of the signed-in user or the app, by the last answers; before the sign-in a public one. Nothing if there is none
   * of that name.
   */
  std::optional<std::string> variable(const std::string &name) const;

  /**
   * The request of a machine that is never online, a text of about 150 characters for the vendor. Calling it again with the
   * same key returns the same request until a file has answered it. Sends nothing; needs the option `storage`.
   */
  std::string offlineRequest(const std::string &licenseKey);

  /**
   * Accepts the vendor's file for the last `offlineRequest`. From then on `session` and `license` answer from it while the
   * server is not reached. Throws `UsageError` (`activation_rejected`) for any other file. Sends nothing.
   */
  Result<UserData> activateOffline(const std::string &file);

  /**
   * Forgets the activation of this machine and returns the code with which the vendor frees the device. Throws `UsageError`
   * (`no_activation`) without one. Sends nothing.
   */
  std::string deactivateOffline();

 private:
  using Time = detail::Clock::time_point;
  /** Asks the server until a time. */
  using Online = std::function<Json(Time)>;

  struct Limits {
    /** When the call ends. */
    Time until;
    detail::IsCurrent isCurrent;
  };

  /** A result, and the session that it belongs to; a refusal to open one has none. */
  struct Answered {
    Json result;
    std::string session;
  };

  /** A renewal of the lease that failed. */
  struct FailedRenewal {
    std::string userId;
    detail::Clock::time_point pausedUntil;
  };

  /** A call that was granted waits no longer for its lease. */
  static constexpr std::chrono::seconds longestRenewal{5};
  static constexpr std::chrono::seconds pauseAfterFailure{60};
  /** How long a call waits for the server if what is stored could answer. */
  static constexpr std::chrono::seconds patience{3};

  Time deadline() const;

  static Result<UserData> toUserResult(Json json) { return detail::toResult<UserData>(std::move(json)); }

  static bool isSignedOut(const Json &result);

  static void setOptional(Json &body, const char *name, const std::optional<std::string> &value);

  static std::string rejection(const std::string &problem);

  std::optional<std::string> currentSession() const;

  /** Whether a call has signed in, in a session that no answer has ended. */
  bool hasUser() const;

  void forgetUser();

  /** Whether no sign-out has begun since now: ask for it before anything else of a call. */
  detail::IsCurrent untilSignOut() const;

  /** The result of a sign-in or `session` that was granted only after the user had signed out. */
  static Json overtaken();

  /** Signs the user of an answer in, unless a sign-out has overtaken the answer. */
  bool signInIfCurrent(const Json &user, const detail::IsCurrent &isCurrent, bool isKnown = false);

  void rememberKey(const std::optional<std::string> &licenseKey);

  Json signIn(const detail::Call &attempt, const Limits &limits,
              const std::optional<std::string> &licenseKey = std::nullopt);

  void rememberKeyIfCurrent(const std::optional<std::string> &licenseKey, const detail::IsCurrent &isCurrent);

  /** Whether the user may go on; signs in again with a remembered sign-in or the key that signed in. */
  Json check(const Limits &limits);

  /** Signs in with the key of the last sign-in; nothing if that was none by key. Concurrent calls share it. */
  std::optional<Json> signInByKey(const Limits &limits);

  /** Null if the key must not be used again. */
  Json signInBy(const std::string &licenseKey, const Limits &limits);

  void forgetKey(const std::string &licenseKey);

  bool isUnused(const std::string &licenseKey, Time until);

  detail::Call toValidation(const std::string &licenseKey, bool activate = false);

  Answered open(Time until);

  /** The session that a call uses to its end, even if it is ended meanwhile. Concurrent calls share one `init`. */
  Answered opened(Time until);

  /** A call that signs in or needs a session; opens a new one and repeats the call if it has ended. */
  Answered call(detail::Call call, const Limits &limits, bool reopen = true);

  void endSession(const std::optional<std::string> &session);

  /**
   * A call of the signed-in user; without one it is `sessionUnauthed`. One with a license key needs no user, so a session that
   * has ended is opened again.
   */
  Json signedIn(detail::Call call, const char *required);

  /** Renews the lease after a success, and forgets it after a refusal that would hold offline, too. */
  Json kept(const std::function<Answered()> &online, const Limits &limits,
            const std::optional<std::string> &licenseKey = std::nullopt);

  /** Stores the token of a remembered sign-in, which programs never see, unless the user has signed out meanwhile. */
  Json keepToken(Json result, const detail::IsCurrent &isCurrent);

  /** Concurrent calls share one sign-in, because each replaces the token. */
  std::optional<Answered> resumeOnce(const Limits &limits);

  /** Signs in with the remembered sign-in; nothing without one, or if the server has ended it. */
  std::optional<Answered> resume(const Limits &limits);

  /** Never fails the call that was granted. */
  void renewLease(const std::string &hwid, const Json &user, const std::optional<std::string> &licenseKey,
                  const std::string &session, const Limits &limits);

  /** Not soon after a failure, which would delay every call. */
  bool isRenewalDue(const std::string &hwid, const std::string &userId);

  void setFailedRenewal(std::optional<FailedRenewal> failed);

  /**
   * Answers from the lease or the activation if the server is not reached. If they could answer, the server gets a few
   * seconds, and after a network error it is asked in the background for a while.
   */
  Json orOffline(const char *name, const Online &online, const detail::IsCurrent &isCurrent,
                 const std::optional<std::string> &licenseKey = std::nullopt);

  /** Answers from the activation of this machine; nothing if there is none that helps. */
  std::optional<Json> activated(const detail::IsCurrent &isCurrent);

  /** Keeps what the server said about the same user in this run: only the lease's own variables outlive it. */
  Json answerOffline(const detail::OfflineAnswer &answer, const detail::IsCurrent &isCurrent);

  /** The hardware id for a call of a machine that is never online. */
  std::string offlineMachine(const std::string &name);

  void addSignInFacts(Json &body);

  /** Adds the hardware id, and the description of the machine beside it. */
  void addMachine(Json &body);

  /** Nothing if the program sends none. Concurrent calls determine it once. */
  std::optional<std::string> findHwid();

  const detail::Checked checked_;
  detail::Transport transport_;
  mutable std::mutex mutex_;
  std::optional<std::string> session_;
  Json user_;
  /** By the last answer of the server, for the time without it. */
  Json known_;
  Json public_;
  /** The license key that signed in. */
  std::optional<std::string> key_;
  std::mutex machineMutex_;
  std::optional<std::string> hwid_;
  std::optional<Json> device_;
  std::atomic<int> signOuts_{0};
  std::optional<FailedRenewal> failedRenewal_;
  detail::Shared<Answered> opening_;
  detail::Shared<Answered> resuming_;
  detail::Shared<Json> signingIn_;
  // Last: its thread uses the others.
  detail::Away away_;
};

}  // namespace keyward
