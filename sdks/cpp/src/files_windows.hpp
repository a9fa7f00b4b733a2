#pragma once

#include "platform.hpp"
#include "system.hpp"
#include "text_windows.hpp"

#ifdef _WIN32

namespace keyward::detail {

inline std::string readWholeFile(const std::string &path) {
  const HANDLE file = CreateFileW(toWide(path).c_str(), GENERIC_READ,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                  FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    const DWORD error = GetLastError();
    const bool isAbsent = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    throw SourceError(path + " cannot be opened", isAbsent);
  }
  std::string text;
  std::array<char, 16384> buffer{};
  DWORD count = 0;
  BOOL good = TRUE;
  while ((good = ReadFile(file, buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr)) != FALSE &&
         count > 0 && text.size() <= maxFileBytes)
    text.append(buffer.data(), count);
  CloseHandle(file);
  if (!good || text.size() > maxFileBytes) throw SourceError(path + " cannot be read");
  return text;
}

inline std::optional<std::string> environment(const char *name) {
  const std::wstring wide = toWide(name);
  std::wstring value(32768, L'\0');
  const DWORD size = GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
  if (size == 0 || size >= value.size()) return std::nullopt;
  value.resize(size);
  return fromWide(value);
}

/** Replaces the file as a whole. */
inline void replaceFile(const std::string &path, const std::string &draft, const std::string &text) {
  const HANDLE file =
      CreateFileW(toWide(draft).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) throw std::runtime_error(draft + " cannot be created");
  DWORD written = 0;
  bool good = WriteFile(file, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != FALSE;
  good = good && written == text.size() && FlushFileBuffers(file) != FALSE;
  good = CloseHandle(file) != FALSE && good;
  // A virus scanner or another program may hold the file for a moment.
  for (int attempt = 0; good && attempt < 5; attempt++) {
    if (MoveFileExW(toWide(draft).c_str(), toWide(path).c_str(), MOVEFILE_REPLACE_EXISTING)) return;
    Sleep(20);
  }
  DeleteFileW(toWide(draft).c_str());
  throw std::runtime_error(path + " cannot be written");
}

inline bool removeFile(const std::string &path) { return DeleteFileW(toWide(path).c_str()) != FALSE; }

inline LockAttempt createLock(const std::string &path, const std::string &) {
  const HANDLE file = CreateFileW(toWide(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file != INVALID_HANDLE_VALUE) {
    CloseHandle(file);
    return LockAttempt::created;
  }
  // A file that is being deleted may not be opened.
  const DWORD error = GetLastError();
  const bool isBusy = error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS || error == ERROR_ACCESS_DENIED;
  return isBusy ? LockAttempt::exists : LockAttempt::impossible;
}

/** How long ago the lock was created, in seconds. */
inline std::optional<double> lockAge(const std::string &path) {
  WIN32_FILE_ATTRIBUTE_DATA facts{};
  if (!GetFileAttributesExW(toWide(path).c_str(), GetFileExInfoStandard, &facts)) return std::nullopt;
  FILETIME now{};
  GetSystemTimeAsFileTime(&now);
  const auto ticks = [](const FILETIME &time) {
    return static_cast<double>((static_cast<std::uint64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime);
  };
  return (ticks(now) - ticks(facts.ftLastWriteTime)) / 1e7;
}

/** Whether a lock is that of a program that was ended: unknown on this system. */
inline std::optional<std::string> describeProgram(long) { return std::nullopt; }
inline bool isRunning(long) { return true; }
inline long ownNumber() { return 0; }

inline constexpr const char *slashes = "\\/";
inline std::filesystem::path toPath(const std::string &path) { return toWide(path); }
inline void makeFolder(const std::string &path) { CreateDirectoryW(toWide(path).c_str(), nullptr); }

/** The folder for data of programs that the user does not edit. */
inline std::string dataFolder() {
  if (const auto local = environment("LOCALAPPDATA")) return *local;
  return environment("USERPROFILE").value_or("C:") + "\\AppData\\Local";
}

}  // namespace keyward::detail

#endif
