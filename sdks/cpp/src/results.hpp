#pragma once

#include "json.hpp"
#include "platform.hpp"
#include "updates.hpp"

namespace keyward {

/** How many devices a user has, of how many; -1 for unlimited. */
struct DeviceUse {
  int used = 0;
  int limit = 0;
};

/** The seat of a floating license: call `session` before it ends. */
struct Seat {
  std::string until;
};

/** The signed-in end user. Times are ISO 8601 UTC. */
struct SessionUser {
  std::string id;
  /** The license key itself for users who signed in by key alone. */
  std::string username;
  std::optional<std::string> email;
  /** When the license ends; nothing if it never expires. */
  std::optional<std::string> expiresAt;
  /** True after `expiresAt`, while the vendor's grace days still allow access. */
  bool inGrace = false;
  /** `date`: until a date; `forever`: never expires; `first_use`: for a duration since the first use. */
  std::string term;
  std::string createdAt;
  std::optional<std::string> lastLoginAt;
  /** Whether the user is bound to a machine. */
  bool hwidBound = false;
  /** Names of the features that the license includes; see `Client::has`. */
  std::vector<std::string> features;
  /** The app's variables for signed-in users, and the user's own, by name; see `Client::variable`. */
  std::map<std::string, std::string> variables;
  /** The license covers versions released until then; nothing if it covers all. */
  std::optional<std::string> updatesUntil;
  DeviceUse devices;
  std::optional<Seat> seat;
  /** True if the license covers a newer version; nothing from servers that do not say, and offline what they said last. */
  std::optional<bool> updateAvailable;
  /** Where to buy, renew and upgrade: after a sign-in, `trial` and `upgrade`, not after `session`. */
  std::optional<Links> links;
};

/** How long a program may go on without the server. Times are ISO 8601 UTC. */
struct OfflineState {
  /** When the lease or the activation ends; nothing if the activation never ends. */
  std::optional<std::string> until;
  /** When the program must stop; nothing for never. */
  std::optional<std::string> graceUntil;
  /** True between the two: tell the user to go online. */
  bool inGrace = false;
};

struct UserData {
  SessionUser user;
  /** Set if a lease or an activation of this machine stands in for the server. */
  std::optional<OfflineState> offline;
  /** A vulnerability of the program's version: after `session` alone. */
  std::optional<Advisory> advisory;
};

struct AppInfo {
  std::string name;
  std::string version;
};

struct InitData {
  /** When the session expires unless it is used. */
  std::string expiresAt;
  /** The app's name and its current version on the server. */
  AppInfo app;
  /** True when the server's version is newer than the `version` of the options. */
  bool updateAvailable = false;
  /** The app's public variables by name; see `Client::variable`. */
  std::map<std::string, std::string> variables;
  /** A vulnerability of the program's version. */
  std::optional<Advisory> advisory;
};

struct ValidatedLicense {
  std::string key;
  bool used = false;
  std::optional<std::string> username;
  std::optional<std::string> expiresAt;
  bool inGrace = false;
  std::string term;
};

struct ValidateData {
  ValidatedLicense license;
  /** Whether this machine is a device of the license. False for an unused key: it is valid on any number of machines. */
  bool activated = false;
};

/** A machine on which the user has signed in. */
struct Device {
  std::string id;
  std::optional<std::string> name;
  std::optional<std::string> system;
  std::string firstSeenAt;
  std::string lastSeenAt;
};

struct DevicesData {
  /** The device seen last comes first; at most 200. */
  std::vector<Device> devices;
};

struct Nothing {};

struct InputError {
  std::string path;
  std::string message;
};

/** The result of a call: check `ok` first and deny access unless it is true. The data is set only then. */
template <class Data>
struct Result : Data {
  bool ok = false;
  /** Why the server refused: a license state such as `userBanned`, or a general code such as `invalid_input`. */
  std::string code;
  /** The text to show to the end user; a success may have none. */
  std::string message;
  /** Names a refusal: show it to the end user, and the app's owner finds the reason in the console. */
  std::string reference;
  /** Facts for the end user; only after the password or the license key was right. Null without any. */
  Json details;
  /** What the details offer the user. */
  Offers offers;
  /** Invalid inputs, if `code` is `invalid_input`. */
  std::vector<InputError> errors;
  /** All of the result, with what newer servers may add. */
  Json json;
};

struct Credentials {
  std::string username;
  std::string password;
};

struct Registration {
  std::string username;
  std::string password;
  std::string licenseKey;
  std::optional<std::string> email = std::nullopt;
};

struct Upgrade {
  std::string username;
  std::string licenseKey;
};

struct Trial {
  /** A trial type of the app; by default its oldest. */
  std::optional<std::string> type = std::nullopt;
  std::optional<std::string> email = std::nullopt;
};

struct ValidateOptions {
  /** Redeems an unused key and binds this machine. */
  bool activate = false;
};

}  // namespace keyward
