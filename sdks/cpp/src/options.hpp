#pragma once

#include "platform.hpp"

namespace keyward {

/** A place that outlives the program, such as a file. Its content may be read and changed by the user. */
class Storage {
 public:
  virtual ~Storage() = default;
  /** Returns what was last written; nothing or an empty text if there is nothing. Throws if it cannot be read. */
  virtual std::optional<std::string> read() = 0;
  virtual void write(const std::string &text) = 0;
  /** Runs a change while no other program changes the content. By default changes of two programs may overwrite each other. */
  virtual void lock(const std::function<void()> &change) { change(); }

 protected:
  Storage() = default;
  Storage(const Storage &) = default;
  Storage &operator=(const Storage &) = default;
};

/** A file that this user of the machine alone can read. `path` is UTF-8. */
std::shared_ptr<Storage> fileStorage(std::string path);

struct UserDataTag {};
/** The option `storage`: a file in the user's data folder, which programs in all languages share. */
inline constexpr UserDataTag userData{};

/** The option `storage`. */
class StorageOption {
 public:
  StorageOption() = default;
  StorageOption(UserDataTag) : isUserData(true) {}
  StorageOption(std::shared_ptr<Storage> theStorage) : storage(std::move(theStorage)) {}
  template <class T, std::enable_if_t<std::is_base_of_v<Storage, T>, int> = 0>
  StorageOption(std::shared_ptr<T> theStorage) : storage(std::move(theStorage)) {}

  bool isUserData = false;
  std::shared_ptr<Storage> storage;
};

/** The option `hwid`: a text, a function that returns one, or `nullptr` to send none. */
class HwidOption {
 public:
  HwidOption() = default;
  HwidOption(std::nullptr_t) : isNone(true) {}
  HwidOption(std::string theText) : text(std::move(theText)) {}
  HwidOption(const char *theText) : text(theText ? theText : "") {}
  template <class F, std::enable_if_t<std::is_invocable_r_v<std::string, F &>, int> = 0>
  HwidOption(F theFunction) : function(std::move(theFunction)) {}

  bool isDefault() const { return !isNone && !text && !function; }

  bool isNone = false;
  std::optional<std::string> text;
  std::function<std::string()> function;
};

/** An event for the option `log`. */
struct LogEvent {
  /**
   * Each attempt is a `request`, and then one of: `response`, a genuine answer; `retry`, an error after which the call is
   * repeated; `failed`, an error that the program gets. `offline`: a lease answered in place of the server.
   */
  std::string event;
  /** The call of the protocol, such as `license` or `init`. */
  std::string call;
  /** From 1; not with `offline`. */
  std::optional<int> attempt = std::nullopt;
  /** The HTTP status, if there was an answer. */
  std::optional<int> status = std::nullopt;
  /** The code of the refusal or of the error. */
  std::optional<std::string> code = std::nullopt;
  /** Names the refusal, for the console. */
  std::optional<std::string> reference = std::nullopt;
  /** How long the attempt took. */
  std::optional<std::int64_t> durationMs = std::nullopt;
  /** The pause before the next attempt. */
  std::optional<std::int64_t> delayMs = std::nullopt;
};

/** How a program reaches and verifies its Keyward server. Texts are UTF-8; lengths count UTF-16 code units. */
struct Options {
  /** The server's public address without `/api`, for example `https://licenses.example.com`. */
  std::string baseUrl;
  /** The app's 8-character identifier. */
  std::string appId;
  /** The app's 32-character secret. */
  std::string secret;
  /**
   * The app's public keys as JSON: a JWK set, an array of keys, or one key. Build them into the program: keys fetched at
   * run time prove nothing.
   */
  std::string publicKeys;
  /** The program's version, compared with the app's version on the server; 1 to 32 characters. */
  std::string version;
  /** The hash of the program's build, for apps that check it; up to 256 characters. */
  std::optional<std::string> hash = std::nullopt;
  /** The language of `message`, as a BCP 47 tag such as `de-AT`; up to 35 characters. */
  std::optional<std::string> locale = std::nullopt;
  /** 1 to 256 characters. Default: a salted hash of the machine's own id. */
  HwidOption hwid = {};
  /**
   * Whether to send the machine's name, its system and salted hashes of its parts, by which the server recognizes a machine
   * that changed. True by default, but false with a `hwid` of your own.
   */
  std::optional<bool> device = std::nullopt;
  /**
   * Lets the program run without the server, and stay signed in: `keyward::userData`, `keyward::fileStorage(path)`, or a
   * `Storage` of your own. Needs a hardware id. Default: none.
   */
  StorageOption storage = {};
  /** Timeout of one call, including retries; 100 to 600000. */
  std::int64_t timeoutMs = 15000;
  /** An HTTP proxy, `http://[user:password@]host:port`. Default: the platform's own settings. */
  std::optional<std::string> proxy = std::nullopt;
  /**
   * Called with an event for every attempt of a call, on the thread of the call. Events never contain a secret, a key, a
   * token, a hardware id or a body. What the function throws is ignored.
   */
  std::function<void(const LogEvent &)> log = {};
};

}  // namespace keyward
