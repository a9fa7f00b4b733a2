#pragma once

#include "clock.hpp"
#include "files.hpp"
#include "machine_windows.hpp"
#include "platform.hpp"
#include "system.hpp"

#ifndef _WIN32

namespace keyward::detail {

inline char **environmentBlock() {
#ifdef __APPLE__
  return *_NSGetEnviron();
#else
  return environ;
#endif
}

/** Runs a program of the system and returns what it prints; throws if it fails or takes longer than five seconds. */
inline std::string runProgram(const std::string &file, const std::vector<std::string> &args) {
  int ends[2];
  if (::pipe(ends) != 0) throw SourceError("No pipe for " + file);
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  for (const int each : ends) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  std::vector<char *> argv{const_cast<char *>(file.c_str())};
  for (const std::string &arg : args) argv.push_back(const_cast<char *>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, file.c_str(), &actions, nullptr, argv.data(), environmentBlock());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw SourceError(file + " cannot be started", isAbsentError(failed));
  writing.close();
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(5);
  std::string text;
  bool isComplete = false;
  std::array<char, 16384> buffer;
  while (!isComplete && text.size() <= maxFileBytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{reading.get(), POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const ssize_t count = readSome(reading.get(), buffer.data(), buffer.size());
    if (count < 0) break;
    isComplete = count == 0;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (!isComplete) ::kill(child, SIGKILL);
  int status = 0;
  pid_t ended = -1;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  const bool isGood = ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (!isComplete || !isGood) throw SourceError(file + " failed");
  return text;
}

/** The value of a property that `ioreg` prints as `"name" = "value"`. */
inline std::string findIoregValue(const std::string &text, const std::string &name) {
  const std::string start = "\"" + name + "\" = \"";
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    const std::size_t from = at + start.size();
    const std::size_t end = text.find('"', from);
    if (end != std::string::npos && end > from) return text.substr(from, end - from);
  }
  return "";
}

inline std::string readProperty(const std::string &name) {
  const std::string device = name == "disk" ? "IONVMeController" : "IOPlatformExpertDevice";
  const std::string text = runProgram("/usr/sbin/ioreg", {"-rd1", "-c", device});
  return findIoregValue(text, name == "disk"      ? "Serial Number"
                              : name == "machine" ? "IOPlatformUUID"
                                                  : "IOPlatformSerialNumber");
}

/** The addresses of the cards that are up and have an IP address, without loopback. */
inline std::vector<std::string> findMacs() {
  ifaddrs *list = nullptr;
  std::vector<std::string> macs;
  if (::getifaddrs(&list) != 0) return macs;
  const auto isUp = [](const ifaddrs *one) {
    return one->ifa_addr && (one->ifa_flags & IFF_UP) && (one->ifa_flags & IFF_RUNNING) &&
           !(one->ifa_flags & IFF_LOOPBACK);
  };
  std::set<std::string> cards;
  for (const ifaddrs *one = list; one; one = one->ifa_next) {
    if (!isUp(one) || (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6)) continue;
    const std::string name = one->ifa_name;
    // An alias such as eth0:1 has the address of its card.
    cards.insert(name.substr(0, name.find(':')));
  }
  for (const ifaddrs *one = list; one; one = one->ifa_next) {
    if (!isUp(one) || cards.count(one->ifa_name) == 0) continue;
#ifdef __linux__
    if (one->ifa_addr->sa_family != AF_PACKET) continue;
    sockaddr_ll link;
    std::memcpy(&link, one->ifa_addr, sizeof link);
    if (link.sll_halen == 6) macs.push_back(toMac(link.sll_addr));
#else
    if (one->ifa_addr->sa_family != AF_LINK) continue;
    const auto *link = reinterpret_cast<const sockaddr_dl *>(one->ifa_addr);
    if (link->sdl_alen == 6) macs.push_back(toMac(reinterpret_cast<const unsigned char *>(LLADDR(link))));
#endif
  }
  ::freeifaddrs(list);
  return macs;
}

inline Machine thisMachine() {
  Machine machine;
#if defined(__linux__)
  machine.platform = "linux";
#elif defined(__APPLE__)
  machine.platform = "darwin";
#else
  machine.platform = "other";
#endif
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) machine.hostname = toValidUtf8(name.data());
  utsname system{};
  if (::uname(&system) >= 0) machine.system = toValidUtf8(std::string(system.sysname) + " " + system.release);
  machine.macs = findMacs();
  machine.read = readWholeFile;
  machine.property = readProperty;
  return machine;
}

}  // namespace keyward::detail

#endif
