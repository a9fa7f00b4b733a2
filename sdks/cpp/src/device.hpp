#pragma once

#include "cryptography.hpp"
#include "encodings.hpp"
#include "hwid.hpp"
#include "json.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"

namespace keyward::detail {

inline std::string hashPart(const std::string &appId, const std::string &name, const std::string &value) {
  return toHex(hmacSha256("keyward-part-v1:" + appId + ":" + name, value));
}

inline std::string lowestBurnedIn(const std::vector<std::string> &macs) {
  std::string lowest;
  for (const std::string &each : macs) {
    const std::string mac = lowerAscii(each);
    if (isBurnedIn(mac) && !isPlaceholder(mac) && (lowest.empty() || mac < lowest)) lowest = mac;
  }
  return lowest;
}

/**
 * The name, the system and salted hashes of parts of this machine, so that the server recognizes it when its hardware id
 * changes. What cannot be read is left out. Serial numbers never leave the machine unhashed.
 */
inline Json describeDevice(const std::string &appId, const Machine &machine) {
  const auto firstOf = [](const auto &ask, std::initializer_list<const char *> names) -> std::string {
    for (const char *name : names) {
      try {
        std::string value = trim(toValidUtf8(ask(name)));
        if (!value.empty()) return value;
      } catch (const SourceError &) {
        // This user may not read it.
      }
    }
    return "";
  };
  std::vector<std::pair<std::string, std::string>> values = {{"network", lowestBurnedIn(machine.macs)}};
  if (machine.platform == "linux") {
    values.emplace_back("machine", firstOf(machine.read, {"/etc/machine-id", "/var/lib/dbus/machine-id"}));
    values.emplace_back("board", firstOf(machine.read, {"/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/board_serial",
                                                        "/sys/firmware/devicetree/base/serial-number"}));
    values.emplace_back("disk", firstOf(machine.read, {"/sys/block/nvme0n1/device/serial", "/sys/block/sda/device/wwid",
                                                       "/sys/block/vda/serial", "/sys/block/mmcblk0/device/cid"}));
  } else if (machine.platform == "darwin" || machine.platform == "win32") {
    for (const char *name : {"machine", "board", "disk"}) values.emplace_back(name, firstOf(machine.property, {name}));
  } else {
    values.emplace_back("machine", firstOf(machine.read, {"/etc/hostid"}));
  }
  Json parts = Json::object();
  for (const auto &[name, value] : values) {
    const std::string part = toLower(trim(value));
    if (!isPlaceholder(part)) parts.set(name, hashPart(appId, name, part));
  }
  return Json::object()
      .set("name", cutUtf16(machine.hostname, 256))
      .set("system", cutUtf16(machine.system, 256))
      .set("parts", parts);
}

}  // namespace keyward::detail
