#pragma once

#include "errors.hpp"
#include "platform.hpp"
#include "signature.hpp"
#include "text.hpp"

namespace keyward::detail {

inline constexpr std::size_t maxHeaderBytes = 64 * 1024;

/** How often a wait looks whether it was ended. */
inline constexpr std::chrono::milliseconds betweenLooks{50};

/** An HTTP proxy, as the option `proxy` names it. */
struct Proxy {
  std::string host;
  int port = 80;
  std::string user;
  std::string password;
};

struct Exchange {
  /** Scheme, host and port without a path, such as `https://licenses.example.com:8443`. */
  std::string origin;
  std::string path;
  std::string method;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body = std::nullopt;
  /** Whether executing the request twice has the same effect as once. */
  bool isRepeatable = false;
  /**
   * Takes the body as it comes, with the head of the response, and returns whether there may be more; must not throw. With it
   * the timeout is that of the next bytes.
   */
  std::function<bool(const ReceivedAnswer &, std::string_view)> sink = nullptr;
};

/** Collects the lines of a response's head, and ignores trailers and the heads of interim answers. */
class HeadReader {
 public:
  /** Returns false if the head is too large. */
  bool add(std::string_view line, ReceivedAnswer &answer) {
    size_ += line.size();
    if (size_ > maxHeaderBytes) return false;
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (isComplete_) return true;
    if (line.empty()) {
      isComplete_ = isFinal_;
    } else if (line.substr(0, 5) == "HTTP/") {
      answer.headers.clear();
      const std::size_t space = line.find(' ');
      isFinal_ = space == std::string_view::npos || line.substr(space + 1, 1) != "1";
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos && colon > 0) {
      const std::string_view value = line.substr(colon + 1);
      const std::size_t start = value.find_first_not_of(" \t");
      const std::size_t end = value.find_last_not_of(" \t");
      answer.headers.emplace_back(
          lowerAscii(line.substr(0, colon)),
          start == std::string_view::npos ? "" : std::string(value.substr(start, end - start + 1)));
    }
    return true;
  }

 private:
  std::size_t size_ = 0;
  bool isFinal_ = false;
  bool isComplete_ = false;
};

inline NetworkError timedOut(const Exchange &request) {
  return NetworkError("timed_out", "No answer from " + request.origin + request.path + " in time", true);
}

inline NetworkError unreachable(const Exchange &request, const std::string &reason) {
  return NetworkError("unreachable", "Cannot reach " + request.origin + " (" + reason + ")", false);
}

inline NetworkError connectionLost(const Exchange &request, const std::string &reason) {
  return NetworkError("connection_lost", "The connection to " + request.origin + " broke (" + reason + ")", true);
}

/** These three were not sent either. */
inline NetworkError clockBehind(const Exchange &request, const std::string &reason) {
  return NetworkError("clock",
                      "The certificate of " + request.origin + " is not valid yet (" + reason +
                          "). Set the date and time of this computer, then try again.",
                      false);
}

inline NetworkError certificateExpired(const Exchange &request, const std::string &reason) {
  return NetworkError("certificate",
                      "The certificate of " + request.origin + " has expired (" + reason +
                          "). Check the date and time of this computer; if they are right, tell the vendor of this program.",
                      false);
}

inline NetworkError certificateRejected(const Exchange &request, const std::string &reason) {
  return NetworkError("certificate",
                      "The certificate of " + request.origin + " is not trusted (" + reason +
                          "). A proxy, a virus scanner or another network may be in between; if not, tell the vendor of this program.",
                      false);
}

/** Only the text of libcurl says what is wrong, in the words of OpenSSL, GnuTLS or macOS. */
inline NetworkError certificateError(const Exchange &request, const std::string &problem) {
  const std::string text = lowerAscii(problem);
  const auto says = [&](const char *words) { return text.find(words) != std::string::npos; };
  if (says("not yet valid") || says("not_valid_yet") || says("not activated")) return clockBehind(request, problem);
  return says("expir") ? certificateExpired(request, problem) : certificateRejected(request, problem);
}

inline NetworkError proxyRefused(int status) {
  return NetworkError("unreachable", "The proxy answered " + std::to_string(status), false, status);
}

}  // namespace keyward::detail
