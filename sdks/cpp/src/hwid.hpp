#pragma once

#include "cryptography.hpp"
#include "encodings.hpp"
#include "errors.hpp"
#include "placeholder_ids.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"

namespace keyward::detail {

inline bool consistsOf(std::string_view text, bool (*isIn)(char)) { return std::all_of(text.begin(), text.end(), isIn); }

/** Whether an id or a serial number identifies no machine. The text is trimmed and in lower case. */
inline bool isPlaceholder(const std::string &text) {
  return isPlaceholderId(text) || consistsOf(text, [](char c) { return c == '0' || !isWord(c); }) ||
         consistsOf(text, [](char c) { return c == 'f' || !isWord(c); });
}

/** Returns an empty text if this machine does not have the source, or this user may never read it. */
inline std::string readSource(const std::function<std::string()> &ask) {
  for (int attempt = 1;; attempt++) {
    try {
      return toValidUtf8(ask());
    } catch (const SourceError &error) {
      if (error.isAbsent) return "";
      if (attempt == 3)
        throw UsageError("hwid_unreadable", std::string("The id of this machine could not be read. Try again later, or pass the option hwid. (") +
                                                error.what() + ")");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

inline bool isBurnedIn(const std::string &mac) { return (std::strtol(mac.substr(0, 2).c_str(), nullptr, 16) & 2) == 0; }

/** Fallback for containers and rare systems: the lowest MAC address and the host name. */
inline std::optional<std::string> networkId(const Machine &machine) {
  std::vector<std::string> real;
  for (const std::string &mac : machine.macs)
    if (lowerAscii(mac) != "00:00:00:00:00:00") real.push_back(lowerAscii(mac));
  std::vector<std::string> burnedIn;
  std::copy_if(real.begin(), real.end(), std::back_inserter(burnedIn), isBurnedIn);
  // Software-assigned addresses come last, because they change with every container and tunnel.
  const std::vector<std::string> &list = burnedIn.empty() ? real : burnedIn;
  if (list.empty()) return std::nullopt;
  return "network:" + *std::min_element(list.begin(), list.end()) + ":" + toLower(machine.hostname);
}

inline std::optional<std::string> findMachineId(const Machine &machine) {
  using Source = std::pair<const char *, std::function<std::string()>>;
  std::vector<Source> sources;
  const auto file = [&](const char *name, const char *path) {
    sources.emplace_back(name, [&machine, path] { return machine.read(path); });
  };
  const auto property = [&](const char *name) {
    sources.emplace_back(name, [&machine] { return machine.property("machine"); });
  };
  if (machine.platform == "linux") {
    file("machine-id", "/etc/machine-id");
    file("machine-id", "/var/lib/dbus/machine-id");
    file("dmi", "/sys/class/dmi/id/product_uuid");
  } else if (machine.platform == "darwin") {
    property("ioplatform");
  } else if (machine.platform == "win32") {
    property("machine-guid");
  } else {
    file("hostid", "/etc/hostid");
  }
  for (const Source &source : sources) {
    const std::string id = toLower(trim(readSource(source.second)));
    const bool isMixed = consistsOf(id, [](char c) { return c == '0' || c == 'f' || c == '-'; });
    if (!isPlaceholder(id) && !isMixed) return std::string(source.first) + ":" + id;
  }
  return networkId(machine);
}

inline std::string hashMachineId(const std::string &appId, const std::string &machineId) {
  return toHex(hmacSha256("keyward-hwid-v1:" + appId, machineId));
}

/**
 * A stable id of this machine for one app, as 64 hex digits. The raw id never leaves the machine, and two apps get unrelated
 * ids. Throws `UsageError` (`hwid_unavailable`) if the machine has no id of its own, and (`hwid_unreadable`) if three
 * attempts could not read it: another source would give the machine another id.
 */
inline std::string defaultHwid(const std::string &appId, const Machine &machine) {
  const std::optional<std::string> id = findMachineId(machine);
  if (!id)
    throw UsageError("hwid_unavailable",
                     "This machine has no id of its own. Pass the option hwid, or nullptr to send none.");
  return hashMachineId(appId, *id);
}

}  // namespace keyward::detail
