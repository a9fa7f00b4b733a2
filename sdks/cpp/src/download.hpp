#pragma once

#include "address.hpp"
#include "cryptography.hpp"
#include "encodings.hpp"
#include "errors.hpp"
#include "exchange.hpp"
#include "files.hpp"
#include "platform.hpp"
#include "text.hpp"
#include "transport.hpp"
#include "updates.hpp"

namespace keyward::detail {

/** This machine in the names of artifacts. */
#if defined(_WIN32)
inline constexpr const char *thisPlatform = "windows";
#elif defined(__APPLE__)
inline constexpr const char *thisPlatform = "macos";
#elif defined(__linux__)
inline constexpr const char *thisPlatform = "linux";
#else
inline constexpr const char *thisPlatform = "other";
#endif
#if defined(__x86_64__) || defined(_M_X64)
inline constexpr const char *thisArchitecture = "x64";
#elif defined(__aarch64__) || defined(_M_ARM64)
inline constexpr const char *thisArchitecture = "arm64";
#elif defined(__i386__) || defined(_M_IX86)
inline constexpr const char *thisArchitecture = "x86";
#else
inline constexpr const char *thisArchitecture = "other";
#endif

/** The address of a file. */
struct FileAddress {
  /** Scheme, host and port. */
  std::string origin;
  /** With the query. */
  std::string path;
};

/** Nothing if the address is neither encrypted nor of this machine. */
inline std::optional<FileAddress> toFileAddress(const std::string &url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string::npos) return std::nullopt;
  const std::string scheme = lowerAscii(url.substr(0, colon));
  const std::size_t end = (std::min)(url.find_first_of("/\\?#", colon + 3), url.size());
  const auto parts = splitAuthority(url.substr(colon + 3, end - colon - 3));
  if (!parts) return std::nullopt;
  const auto &[host, port] = *parts;
  const bool isLocal = host == "127.0.0.1" || host == "[::1]" || host == "localhost";
  if (scheme != "https" && !(scheme == "http" && isLocal)) return std::nullopt;
  std::string path = url[end] == '/' ? "" : "/";
  for (const char c : url.substr(end, url.find('#', end) - end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f)
      path += c;
    else
      path.append("%").append(1, "0123456789ABCDEF"[byte >> 4]).append(1, "0123456789ABCDEF"[byte & 15]);
  }
  return FileAddress{scheme + "://" + host + (port ? ":" + std::to_string(*port) : ""), path};
}

/** Where a redirect leads. */
inline std::string redirected(const FileAddress &from, const std::string &location) {
  const std::size_t end = (std::min)(location.find_first_of(":/?#"), location.size());
  if (location[end] == ':') return location;
  if (location.compare(0, 2, "//") == 0) return from.origin.substr(0, from.origin.find(':') + 1) + location;
  if (end == 0 && location[0] == '/') return from.origin + location;
  const std::string path = from.path.substr(0, from.path.find('?'));
  return from.origin + (location[0] == '?' ? path : path.substr(0, path.rfind('/') + 1)) + location;
}

inline bool isFileName(const std::string &name) {
  return name.find_first_not_of('.') != std::string::npos && isValidUtf8(name) &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return (c >= 0 && c < 0x20) || c == '/' || c == '\\' || c == ':'; });
}

/** The file of an update, which must be one that can be downloaded and stored under its name. */
inline Artifact checkArtifact(const Update &update) {
  const std::optional<Artifact> &artifact = update.artifact;
  if (artifact && artifact->size > 0 && isFileName(artifact->name) && artifact->sha512.size() == 128 &&
      artifact->sha512.find_first_not_of("0123456789abcdef") == std::string::npos && toFileAddress(artifact->url))
    return *artifact;
  throw UsageError("invalid_argument", "The update has no file that can be downloaded");
}

/** Downloads the file of an update, and goes on where an earlier call stopped. */
class Download {
 public:
  Download(Transport &transport, Artifact artifact, std::string folder, std::int64_t timeoutMs, const Progress &onProgress)
      : transport_(transport),
        artifact_(std::move(artifact)),
        folder_(std::move(folder)),
        timeoutMs_(timeoutMs),
        onProgress_(onProgress) {}

  /** Returns the path of the file. It has its name only once its digest is right; what has a wrong one is deleted. */
  std::string run() {
    try {
      return complete();
    } catch (const std::ios_base::failure &) {
    } catch (const std::filesystem::filesystem_error &) {
    }
    throw UsageError("storage_failed", "The file cannot be stored in " + folder_);
  }

 private:
  static constexpr int maxRedirects = 5;

  std::string complete() {
    const std::string target = folder_ + slashes[0] + artifact_.name;
    const std::string part = target + "." + artifact_.sha512.substr(0, 16) + ".part";
    std::filesystem::create_directories(toPath(folder_));
    if (digestOf(target) == artifact_.sha512) return target;
    for (;;) {
      const std::int64_t from = sizeOf(part);
      const int status = from < artifact_.size ? receive(part, from) : 200;
      // What gets the name is a copy of its own: another program may still write to the part.
      const std::string copy = part + "." + toHex(randomBytes(8));
      const bool isRight = digestOf(part, copy) == artifact_.sha512;
      if (isRight) std::filesystem::rename(toPath(copy), toPath(target));
      for (const std::string &path : {part, copy}) std::filesystem::remove(toPath(path));
      if (isRight) return target;
      if (from == 0) throw SignatureError("digest_mismatch", "The download is not the released file", status);
    }
  }

  /** Writes what the server has after the first bytes; begins anew where it does not go on from there. */
  int receive(const std::string &part, std::int64_t from) {
    std::optional<FileAddress> address = toFileAddress(artifact_.url);
    for (int hops = 0;; hops++) {
      std::ofstream file;
      std::exception_ptr failure;
      std::int64_t at = 0;
      Exchange request;
      request.origin = address->origin;
      request.path = address->path;
      request.method = "GET";
      request.isRepeatable = true;
      request.headers = {{"accept-encoding", "identity"}};
      if (from > 0) request.headers.emplace_back("range", "bytes=" + std::to_string(from) + "-");
      // No exception may pass through what calls it.
      request.sink = [&](const ReceivedAnswer &head, std::string_view bytes) {
        try {
          const bool isContinued = goesOn(head, from);
          if (head.status != 200 && !isContinued) return false;
          if (!file.is_open()) {
            at = isContinued ? from : 0;
            open(file, part, isContinued ? std::ios::in | std::ios::out : std::ios::out | std::ios::trunc);
            file.seekp(at);
          }
          const auto size = (std::min)(static_cast<std::int64_t>(bytes.size()), artifact_.size - at);
          file.write(bytes.data(), size).flush();
          at += size;
          if (onProgress_) onProgress_(at, artifact_.size);
          return at < artifact_.size;
        } catch (...) {
          failure = std::current_exception();
          return false;
        }
      };
      const ReceivedAnswer head = transport_.fetch(request, timeoutMs_);
      if (failure) std::rethrow_exception(failure);
      const int status = head.status;
      if (from > 0 && (status == 416 || (status == 206 && !goesOn(head, from)))) {
        std::filesystem::remove(toPath(part));
        return status;
      }
      if (status == 200 || goesOn(head, from)) return status;
      const bool isRedirect = status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
      const std::string location = isRedirect ? head.header("location") : "";
      if (!location.empty()) address = toFileAddress(redirected(*address, location));
      if (location.empty() || !address || hops == maxRedirects) throw refused(status);
    }
  }

  static bool goesOn(const ReceivedAnswer &head, std::int64_t from) {
    const std::string start = "bytes " + std::to_string(from) + "-";
    return from > 0 && head.status == 206 && head.header("content-range").compare(0, start.size(), start) == 0;
  }

  NetworkError refused(int status) const {
    const char *code = status == 429 ? "rate_limited" : status >= 500 ? "server_error" : "wrong_address";
    return NetworkError(code, artifact_.url + " answered " + std::to_string(status), false, status);
  }

  template <class File>
  static void open(File &file, const std::string &path, std::ios::openmode mode) {
    file.exceptions(std::ios::badbit | std::ios::failbit);
    file.open(toPath(path), mode | std::ios::binary);
  }

  /** SHA-512 of a file in hex, which is copied at the same time; empty without it. */
  static std::string digestOf(const std::string &path, const std::string &copy = "") {
    std::int64_t left = sizeOf(path);
    if (left == 0) return "";
    std::ifstream file;
    std::ofstream copied;
    open(file, path, std::ios::in);
    if (!copy.empty()) open(copied, copy, std::ios::out | std::ios::trunc);
    Sha512 hash;
    std::array<char, 65536> buffer;
    while (left > 0) {
      const auto size = (std::min)(left, static_cast<std::int64_t>(buffer.size()));
      file.read(buffer.data(), size);
      hash.add({buffer.data(), static_cast<std::size_t>(size)});
      if (!copy.empty()) copied.write(buffer.data(), size);
      left -= size;
    }
    if (!copy.empty()) copied.close();
    return toHex(hash.finish());
  }

  /** 0 without the file. */
  static std::int64_t sizeOf(const std::string &path) {
    std::error_code missing;
    const std::uintmax_t size = std::filesystem::file_size(toPath(path), missing);
    return missing ? 0 : static_cast<std::int64_t>(size);
  }

  Transport &transport_;
  Artifact artifact_;
  std::string folder_;
  std::int64_t timeoutMs_;
  const Progress &onProgress_;
};

}  // namespace keyward::detail
