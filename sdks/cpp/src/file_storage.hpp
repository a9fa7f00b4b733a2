#pragma once

#include "cryptography.hpp"
#include "encodings.hpp"
#include "files.hpp"
#include "lock_file.hpp"
#include "options.hpp"
#include "platform.hpp"
#include "system.hpp"
#include "text.hpp"
#include "text_windows.hpp"

namespace keyward::detail {

class FileStorage : public Storage {
 public:
  explicit FileStorage(std::string path) : path_(std::move(path)) {}

  std::optional<std::string> read() override {
    try {
      return readWholeFile(path_);
    } catch (const SourceError &error) {
      if (error.isAbsent && !exists()) return std::nullopt;
      throw;
    }
  }

  void write(const std::string &text) override {
    makeFolders();
    replaceFile(path_, path_ + "." + toHex(randomBytes(16)) + ".tmp", text);
  }

  /** Holds a lock file, which the SDKs of all languages use; goes on without it where that is impossible. */
  void lock(const std::function<void()> &change) override {
    const LockFile held(path_ + ".lock", [this] { makeFolders(); });
    change();
  }

 private:
  void makeFolders() const {
    for (std::size_t at = path_.find_first_of(slashes, 1); at != std::string::npos;
         at = path_.find_first_of(slashes, at + 1))
      makeFolder(path_.substr(0, at));
  }

  bool exists() const {
#ifdef _WIN32
    return GetFileAttributesW(toWide(path_).c_str()) != INVALID_FILE_ATTRIBUTES;
#else
    struct stat facts {};
    return ::lstat(path_.c_str(), &facts) == 0;
#endif
  }

  std::string path_;
};

/** A file of one app in the user's data folder. */
inline std::shared_ptr<Storage> userDataFile(const std::string &appId) {
  std::string name = appId;
  for (char &c : name) c = isWord(c) ? c : '_';
  const char slash = slashes[0];
  return std::make_shared<FileStorage>(dataFolder() + slash + "keyward" + slash + name + ".json");
}

}  // namespace keyward::detail

namespace keyward {

inline std::shared_ptr<Storage> fileStorage(std::string path) {
  return std::make_shared<detail::FileStorage>(std::move(path));
}

}  // namespace keyward
