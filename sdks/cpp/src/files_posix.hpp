#pragma once

#include "clock.hpp"
#include "cryptography.hpp"
#include "encodings.hpp"
#include "files_windows.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"

#ifndef _WIN32

namespace keyward::detail {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

inline ssize_t readSome(int descriptor, char *buffer, std::size_t size) {
  ssize_t count = -1;
  do count = ::read(descriptor, buffer, size);
  while (count < 0 && errno == EINTR);
  return count;
}

inline bool isAbsentError(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM;
}

/** Reads regular files alone: a pipe or a device in its place could block the program. */
inline std::string readWholeFile(const std::string &path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int error = errno;
    throw SourceError(path + " cannot be opened", isAbsentError(error));
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) throw SourceError(path + " is no file");
  std::string text;
  std::array<char, 16384> buffer;
  ssize_t count = 0;
  while ((count = readSome(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > maxFileBytes) throw SourceError(path + " is too large");
  }
  if (count < 0) {
    const int error = errno;
    throw SourceError(path + " cannot be read", isAbsentError(error));
  }
  return text;
}

inline std::optional<std::string> environment(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

/** Replaces the file as a whole. Only this user can read it. */
inline void replaceFile(const std::string &path, const std::string &draft, const std::string &text) {
  Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) throw std::runtime_error(draft + " cannot be created");
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::write(file.get(), text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    at += static_cast<std::size_t>(count);
  }
  bool good = at == text.size() && ::fsync(file.get()) == 0;
  good = file.close() && good;
  if (good && ::rename(draft.c_str(), path.c_str()) == 0) return;
  ::unlink(draft.c_str());
  throw std::runtime_error(path + " cannot be written");
}

inline std::optional<std::string> linkTarget(const char *path) {
  std::array<char, 256> buffer;
  const ssize_t size = ::readlink(path, buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

inline bool removeFile(const std::string &path) { return ::unlink(path.c_str()) == 0; }

inline LockAttempt createWith(const std::string &path, const std::string &text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return errno == EEXIST ? LockAttempt::exists : LockAttempt::impossible;
  ssize_t count = -1;
  do count = ::write(file.get(), text.data(), text.size());
  while (count < 0 && errno == EINTR);
  return LockAttempt::created;
}

/** Creates the file together with its text where that is possible; a lock without its text becomes stale by its age. */
inline LockAttempt createLock(const std::string &path, const std::string &text) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0) return LockAttempt::exists;
  if (text.empty()) return createWith(path, text);
  // Written after it was created, the lock of a program that is killed in between would name no holder.
  const std::string draft = path + "." + toHex(randomBytes(16));
  if (createWith(draft, text) != LockAttempt::created) return createWith(path, text);
  const int failed = ::link(draft.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(draft.c_str());
  if (failed == 0) return LockAttempt::created;
  return failed == EEXIST ? LockAttempt::exists : createWith(path, text);
}

/** Number and start of a program, and where they are its own; nothing on systems other than Linux. */
inline std::optional<std::string> describeProgram(long pid) {
#ifdef __linux__
  const std::optional<std::string> pids = linkTarget("/proc/self/ns/pid");
  if (!pids) return std::nullopt;
  try {
    const std::string boot = trim(readWholeFile("/proc/sys/kernel/random/boot_id"));
    const std::string status = readWholeFile("/proc/" + std::to_string(pid) + "/stat");
    // The second field is the name in parentheses, which may contain spaces.
    std::istringstream fields(status.substr(status.rfind(')') + 1));
    std::string start;
    for (int at = 0; at < 20; at++) fields >> start;
    if (!fields || !std::all_of(start.begin(), start.end(), isDigit)) return std::nullopt;
    return std::to_string(pid) + " " + start + " " + boot + "/" + *pids + "/" +
           linkTarget("/proc/self/ns/time").value_or("-") + "\n";
  } catch (const SourceError &) {
    return std::nullopt;
  }
#else
  static_cast<void>(pid);
  return std::nullopt;
#endif
}

inline bool isRunning(long pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }
inline long ownNumber() { return static_cast<long>(::getpid()); }

/** How long ago the lock was created, in seconds. */
inline std::optional<double> lockAge(const std::string &path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
  return systemNow() - static_cast<double>(facts.st_mtime);
}

inline constexpr const char *slashes = "/";
inline std::filesystem::path toPath(const std::string &path) { return path; }
inline void makeFolder(const std::string &path) { ::mkdir(path.c_str(), 0700); }

inline std::string homeFolder() {
  if (const auto home = environment("HOME")) return *home;
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd *found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found) return found->pw_dir;
  return "/";
}

/** The folder for data of programs that the user does not edit. */
inline std::string dataFolder() {
#ifdef __APPLE__
  return homeFolder() + "/Library/Application Support";
#else
  if (const auto state = environment("XDG_STATE_HOME")) return *state;
  return homeFolder() + "/.local/state";
#endif
}

}  // namespace keyward::detail

#endif
