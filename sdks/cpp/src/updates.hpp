#pragma once

#include "platform.hpp"

namespace keyward {

/** A page of the vendor's shop for another type of license. */
struct UpgradeLink {
  std::string name;
  std::string url;
};

/** Pages of the vendor's shop, which know the license: a program opens them for its user. */
struct Links {
  /** Where to buy a license; nothing if the vendor has set none, like the others. */
  std::optional<std::string> buy;
  std::optional<std::string> renew;
  std::vector<UpgradeLink> upgrades;
};

/** A vulnerability of the program's version. */
struct Advisory {
  /** The version that repairs it; nothing if none is left. */
  std::optional<std::string> version;
  /** `low`, `medium`, `high` or `critical`. */
  std::string severity;
  std::string summary;
  /** A page about it. */
  std::optional<std::string> url;
};

/** The newest version that a license may use. */
struct OfferedRelease {
  std::string version;
  std::optional<std::string> url;
};

/** What a refusal offers its user, out of `details`. */
struct Offers {
  /** Where to buy, renew and upgrade, with refusals that a purchase mends. */
  std::optional<Links> links;
  /** With `updatesEnded` and `versionTooOld`. */
  std::optional<OfferedRelease> release;
  std::optional<Advisory> advisory;
};

/** A file of a release. Digests are in lower-case hex. */
struct Artifact {
  std::string platform;
  std::string architecture;
  /** Such as `installer`, `archive`, `full` or `delta`. */
  std::string kind;
  std::string name;
  std::string url;
  /** Bytes. */
  std::int64_t size = 0;
  std::string sha512;
  std::optional<std::string> sha256;
  std::optional<std::string> sha1;
  /** The vendor's own. */
  std::optional<std::string> signature;
};

struct SecurityFix {
  std::string severity;
  std::string summary;
  /** A page about the vulnerability. */
  std::optional<std::string> advisory;
};

struct Update {
  std::string version;
  /** ISO 8601 UTC. */
  std::string releasedAt;
  /** Markdown. */
  std::optional<std::string> notes;
  /** Where people download it. */
  std::optional<std::string> url;
  /** The file for this machine; nothing for a release without files. */
  std::optional<Artifact> artifact;
  /** Set for a release that repairs a vulnerability. */
  std::optional<SecurityFix> security;
};

/** A newer version that the license does not cover, and where to renew. */
struct Beyond {
  std::string version;
  Links links;
};

struct UpdateData {
  /** The newest version that the license covers and that this one may update to; nothing if there is none. */
  std::optional<Update> update;
  std::optional<Beyond> beyond;
};

struct UpdateQuery {
  /** By default `stable`. */
  std::optional<std::string> channel = std::nullopt;
  /** The platform and architecture of the artifact; by default those of this machine. */
  std::optional<std::string> platform = std::nullopt;
  std::optional<std::string> architecture = std::nullopt;
  /** Needed while nobody is signed in; it is not used by it. */
  std::optional<std::string> licenseKey = std::nullopt;
};

/** Called with the bytes that were received, and their number in the end. */
using Progress = std::function<void(std::int64_t, std::int64_t)>;

}  // namespace keyward
