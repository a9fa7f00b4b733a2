#pragma once

#include "platform.hpp"

namespace keyward::detail {

/** A source of the hardware id that could not be read. */
class SourceError : public std::runtime_error {
 public:
  explicit SourceError(const std::string &message, bool absent = false)
      : std::runtime_error(message), isAbsent(absent) {}

  /** The machine does not have the source, or this user may never read it. */
  bool isAbsent;
};

/** The properties of a machine that the hardware id is derived from. */
struct Machine {
  /** `linux`, `darwin`, `win32` or another name. */
  std::string platform;
  std::string hostname;
  /** Name and version of the operating system. */
  std::string system;
  /** MAC addresses of the network cards, as `aa:bb:cc:dd:ee:ff`. */
  std::vector<std::string> macs;
  std::function<std::string(const std::string &path)> read;
  /** The `machine`, `board` or `disk` of macOS and Windows. */
  std::function<std::string(const std::string &name)> property;
};

inline std::string toMac(const unsigned char *bytes) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4],
                bytes[5]);
  return text;
}

inline constexpr std::size_t maxFileBytes = 4 * 1024 * 1024;

enum class LockAttempt { created, exists, impossible };

}  // namespace keyward::detail
