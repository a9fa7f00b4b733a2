#pragma once

#include "json.hpp"
#include "platform.hpp"
#include "updates.hpp"

namespace keyward::detail {

inline std::optional<Links> toLinks(const Json &from) {
  if (!from.isObject()) return std::nullopt;
  Links links{from["buy"].text(), from["renew"].text(), {}};
  for (const Json &one : from["upgrades"].items()) links.upgrades.push_back({one["name"].string(), one["url"].string()});
  return links;
}

inline std::optional<Advisory> toAdvisory(const Json &from) {
  if (!from.isObject()) return std::nullopt;
  return Advisory{from["version"].text(), from["severity"].string(), from["summary"].string(), from["url"].text()};
}

inline Offers toOffers(const Json &details) {
  const Json &release = details["release"];
  Offers offers{toLinks(details["links"]), {}, toAdvisory(details["advisory"])};
  if (release.isObject()) offers.release = OfferedRelease{release["version"].string(), release["url"].text()};
  return offers;
}

inline Artifact toArtifact(const Json &from) {
  const double size = from["size"].number();
  const bool isWhole = size >= 1 && size < 9007199254740992.0 && std::floor(size) == size;
  return {from["platform"].string(), from["architecture"].string(), from["kind"].string(),
          from["name"].string(),     from["url"].string(),          isWhole ? static_cast<std::int64_t>(size) : 0,
          from["sha512"].string(),   from["sha256"].text(),         from["sha1"].text(),
          from["signature"].text()};
}

inline Update toUpdate(const Json &from) {
  Update update{from["version"].string(), from["releasedAt"].string(), from["notes"].text(), from["url"].text(), {}, {}};
  const Json &fix = from["security"];
  if (from["artifact"].isObject()) update.artifact = toArtifact(from["artifact"]);
  if (fix.isObject()) update.security = SecurityFix{fix["severity"].string(), fix["summary"].string(), fix["advisory"].text()};
  return update;
}

inline void readInto(const Json &from, UpdateData &data) {
  const Json &beyond = from["beyond"];
  if (from["update"].isObject()) data.update = toUpdate(from["update"]);
  if (beyond.isObject()) data.beyond = Beyond{beyond["version"].string(), toLinks(beyond["links"]).value_or(Links())};
}

}  // namespace keyward::detail
