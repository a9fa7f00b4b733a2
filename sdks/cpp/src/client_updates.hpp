#pragma once

#include "arguments.hpp"
#include "client.hpp"
#include "download.hpp"
#include "granted.hpp"
#include "json.hpp"
#include "platform.hpp"
#include "typed_results.hpp"
#include "updates.hpp"

namespace keyward {

inline Result<UpdateData> Client::checkForUpdate(const UpdateQuery &query) {
  Json body = Json::object();
  body.set("platform", query.platform.value_or(detail::thisPlatform));
  body.set("architecture", query.architecture.value_or(detail::thisArchitecture));
  setOptional(body, "channel", query.channel);
  if (query.licenseKey) body.set("licenseKey", detail::toKey(*query.licenseKey));
  const Json result = signedIn({"POST", "updates", body, {}, true}, nullptr);
  for (const char *name : {"update", "beyond"}) {
    const Json *value = result.find(name);
    if (result["ok"].isTrue() && !(value && (value->isObject() || value->isNull()))) throw detail::unexpected("updates");
  }
  return detail::toResult<UpdateData>(result);
}

inline std::string Client::downloadUpdate(const Update &update, const std::string &folder, const Progress &onProgress) {
  const Artifact artifact = detail::checkArtifact(update);
  detail::checkArgument("folder", folder);
  if (folder.empty()) throw UsageError("invalid_argument", "folder must be a text");
  return detail::Download(transport_, artifact, folder, checked_.options.timeoutMs, onProgress).run();
}

}  // namespace keyward
