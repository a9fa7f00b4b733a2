#pragma once

#include "encodings.hpp"
#include "errors.hpp"
#include "json.hpp"
#include "offline.hpp"
#include "platform.hpp"
#include "statements.hpp"

namespace keyward::detail {

inline bool Offline::isRequest(const Json &value) {
  const std::string &nonce = value["nonce"].string();
  return nonce.size() == 16 && fromHex(nonce) && value["licenseKey"].isString();
}

inline Offline::Kept Offline::load() {
  Kept kept{Json::object()};
  try {
    const std::optional<std::string> text = storage_->read();
    if (text && !text->empty())
      if (const std::optional<Json> parsed = Json::parse(*text); parsed && parsed->isObject()) kept.all = *parsed;
  } catch (...) {
    kept.isUnreadable = true;
  }
  Json &all = kept.all;
  if (!all["lease"].isString()) all.set("lease", "");
  if (!all["latest"].isNumber()) all.set("latest", 0);
  if (!all["user"].isObject()) all.set("user", Json());
  if (!all["key"].isString()) all.set("key", Json());
  if (!all["deviceToken"].isString()) all.erase("deviceToken");
  const Json &boot = all["boot"];
  if (!boot["id"].isString() || !isTime(boot["startedAt"])) all.erase("boot");
  normalizeActivation(all);
  return kept;
}

inline void Offline::normalizeActivation(Json &all) {
  const Json kept = all["activation"];
  if (!kept.isObject()) {
    all.erase("activation");
    return;
  }
  Json clean = Json::object();
  if (kept["file"].isString() && isRequest(kept))
    clean.set("file", kept["file"]).set("nonce", kept["nonce"]).set("licenseKey", kept["licenseKey"]);
  const Json &pending = kept["pending"];
  if (isRequest(pending))
    clean.set("pending",
              Json::object().set("nonce", pending["nonce"]).set("licenseKey", pending["licenseKey"]));
  all.set("activation", clean);
}

inline void Offline::store(const Kept &kept) {
  if (kept.isUnreadable) throw UsageError("storage_failed", "The storage cannot be read. Nothing was changed.");
  try {
    storage_->write(kept.all.dump());
  } catch (...) {
    throw UsageError("storage_failed", "The storage cannot be written. Nothing was changed.");
  }
}

inline void Offline::write(const Kept &kept) {
  try {
    store(kept);
  } catch (const UsageError &) {
    // A full disk must not stop a program that is online.
  }
}

}  // namespace keyward::detail
