#pragma once

#include "clock.hpp"
#include "files.hpp"
#include "hwid.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"

namespace keyward::detail {

/** A file that exists while one program changes the storage. */
class LockFile {
 public:
  LockFile(std::string path, const std::function<void()> &makeFolders) : path_(std::move(path)) {
    makeFolders();
    const std::string holder = describeProgram(ownNumber()).value_or("");
    const Clock::time_point end = Clock::now() + std::chrono::seconds(2);
    while (Clock::now() < end) {
      const LockAttempt attempt = createLock(path_, holder);
      isOurs_ = attempt == LockAttempt::created;
      if (attempt != LockAttempt::exists) return;
      if (!removeStale()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  LockFile(const LockFile &) = delete;
  LockFile &operator=(const LockFile &) = delete;
  ~LockFile() {
    if (isOurs_) removeFile(path_);
  }

 private:
  /** Removes the lock of a program that was ended; returns whether it did. */
  bool removeStale() const {
    if (!isStale()) return false;
    // One program at a time, and each looks again: otherwise the second one would remove the lock that the first one took.
    const std::string claim = path_ + ".claim";
    if (createLock(claim, "") != LockAttempt::created) {
      if (isOld(claim)) removeFile(claim);
      return false;
    }
    const bool isRemoved = isStale() && removeFile(path_);
    removeFile(claim);
    return isRemoved;
  }

  bool isStale() const { return isOfEndedProgram() || isOld(path_); }

  /** A change takes milliseconds, so an older lock is that of a program that was ended. */
  static bool isOld(const std::string &path) {
    const std::optional<double> age = lockAge(path);
    return age && std::fabs(*age) > 10;
  }

  /** False wherever that cannot be known: on another machine, in another container, of an earlier version. */
  bool isOfEndedProgram() const {
    const std::optional<std::string> own = describeProgram(ownNumber());
    if (!own) return false;
    std::string holder;
    try {
      holder = readWholeFile(path_);
    } catch (const SourceError &) {
      return false;
    }
    const std::size_t digits = holder.find_first_not_of("0123456789");
    const std::size_t place = holder.rfind(' ');
    if (digits == 0 || digits > 9 || holder[0] == '0' || place == std::string::npos || place <= digits + 1) return false;
    if (!consistsOf(std::string_view(holder).substr(digits + 1, place - digits - 1), isDigit)) return false;
    if (own->substr(own->rfind(' ')) != holder.substr(place)) return false;
    const long pid = std::stol(holder.substr(0, digits));
    if (!isRunning(pid)) return true;
    // The system gives the number of an ended program to a new one.
    const std::optional<std::string> running = describeProgram(pid);
    return running && *running != holder;
  }

  std::string path_;
  bool isOurs_ = false;
};

}  // namespace keyward::detail
