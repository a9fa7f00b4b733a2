#pragma once

#include "arguments.hpp"
#include "client.hpp"
#include "device.hpp"
#include "errors.hpp"
#include "hwid.hpp"
#include "json.hpp"
#include "machine.hpp"
#include "option_errors.hpp"
#include "options.hpp"
#include "platform.hpp"
#include "text.hpp"

namespace keyward {

inline void Client::setOptional(Json &body, const char *name, const std::optional<std::string> &value) {
  if (!value) return;
  detail::checkArgument(name, *value);
  body.set(name, *value);
}

inline void Client::addSignInFacts(Json &body) {
  addMachine(body);
  if (checked_.offline && body.find("hwid")) body.set("remember", true);
}

inline void Client::addMachine(Json &body) {
  const std::optional<std::string> hwid = findHwid();
  if (!hwid) return;
  body.set("hwid", *hwid);
  if (!checked_.sendsDevice) return;
  const std::lock_guard<std::mutex> lock(machineMutex_);
  if (!device_) device_ = detail::describeDevice(checked_.options.appId, detail::thisMachine());
  body.set("device", *device_);
}

inline std::optional<std::string> Client::findHwid() {
  const HwidOption &option = checked_.options.hwid;
  if (option.isNone) return std::nullopt;
  const std::lock_guard<std::mutex> lock(machineMutex_);
  if (hwid_) return hwid_;
  std::string found;
  if (option.function) {
    try {
      found = option.function();
    } catch (const std::exception &error) {
      throw UsageError("hwid_unavailable", std::string("The function hwid failed: ") + error.what());
    } catch (...) {
      throw UsageError("hwid_unavailable", "The function hwid failed");
    }
  } else {
    found = option.text ? *option.text : detail::defaultHwid(checked_.options.appId, detail::thisMachine());
  }
  if (found.empty() || detail::utf16Length(found) > 256 || !detail::isValidUtf8(found))
    throw detail::wrongOption("hwid must give a text of 1 to 256 characters");
  hwid_ = found;
  return hwid_;
}

}  // namespace keyward
