#pragma once

#include "option_errors.hpp"
#include "platform.hpp"
#include "text.hpp"

namespace keyward::detail {

/** The address of the server, as the option `baseUrl` names it. */
struct Address {
  /** Scheme, host and port. */
  std::string origin;
  /** Path without a slash at its end. */
  std::string prefix;
};

inline bool isHostCharacter(char c) { return isAlnum(c) || c == '-' || c == '.' || c == '_'; }

/** Splits `host`, `host:port`, `[address]` or `[address]:port`; nothing if it is none of them. */
inline std::optional<std::pair<std::string, std::optional<int>>> splitAuthority(const std::string &text) {
  std::size_t end = 0;
  if (!text.empty() && text[0] == '[') {
    end = text.find(']');
    if (end == std::string::npos || end < 3) return std::nullopt;
    for (std::size_t i = 1; i < end; i++)
      if (!std::isxdigit(static_cast<unsigned char>(text[i])) && text[i] != ':' && text[i] != '.') return std::nullopt;
    end++;
  } else {
    while (end < text.size() && isHostCharacter(text[end])) end++;
    if (end == 0) return std::nullopt;
  }
  const std::string host = lowerAscii(text.substr(0, end));
  if (end == text.size() || (text[end] == ':' && end + 1 == text.size())) return std::make_pair(host, std::nullopt);
  const std::string digits = text.substr(end + 1);
  if (text[end] != ':' || digits.size() > 5 || !std::all_of(digits.begin(), digits.end(), isDigit)) return std::nullopt;
  const int port = std::atoi(digits.c_str());
  if (port > 65535) return std::nullopt;
  return std::make_pair(host, std::optional<int>(port));
}

/** The path as it is sent: without dot segments, and percent-encoded. */
inline std::string normalizePath(const std::string &path) {
  std::vector<std::string> segments;
  std::string segment;
  for (const char c : path + "/") {
    if (c != '/' && c != '\\') {
      const auto byte = static_cast<unsigned char>(c);
      if (byte <= 0x20 || byte >= 0x7f || std::strchr("\"#<>?^`{}", c)) {
        segment += '%';
        segment += "0123456789ABCDEF"[byte >> 4];
        segment += "0123456789ABCDEF"[byte & 15];
      } else {
        segment += c;
      }
      continue;
    }
    std::string dots = lowerAscii(segment);
    for (std::size_t at; (at = dots.find("%2e")) != std::string::npos;) dots.replace(at, 3, ".");
    if (dots == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (dots != ".") {
      segments.push_back(segment);
    }
    segment.clear();
  }
  std::string out;
  for (const std::string &each : segments) out += "/" + each;
  while (!out.empty() && out.back() == '/') out.pop_back();
  return out;
}

inline bool isLoopback(const std::string &host) {
  const auto endsWith = [&](std::string_view end) {
    return host.size() > end.size() && host.compare(host.size() - end.size(), end.size(), end) == 0;
  };
  const bool isAddress = host.compare(0, 4, "127.") == 0 &&
                         std::all_of(host.begin(), host.end(), [](char c) { return isDigit(c) || c == '.'; });
  return host == "localhost" || host == "[::1]" || isAddress || endsWith(".localhost");
}

inline Address toAddress(const std::string &baseUrl) {
  checkText("baseUrl", baseUrl, 2048);
  const std::string url = trim(baseUrl);
  for (const char c : url)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) throw wrongOption("baseUrl is not an address");
  const std::size_t colon = url.find("://");
  const std::string scheme = lowerAscii(url.substr(0, colon));
  if (colon == std::string::npos) throw wrongOption("baseUrl is not an address");
  if (scheme != "https" && scheme != "http") throw wrongOption("baseUrl must be http or https");
  const std::size_t start = colon + 3;
  const std::size_t end = (std::min)(url.find_first_of("/\\?#", start), url.size());
  const std::string authority = url.substr(start, end - start);
  if (authority.find('@') != std::string::npos) throw wrongOption("baseUrl must not carry a user or a password");
  const auto parts = splitAuthority(authority);
  if (!parts) throw wrongOption("baseUrl is not an address; write the host in ASCII");
  const std::string rest = url.substr(end);
  const std::size_t mark = (std::min)(rest.find_first_of("?#"), rest.size());
  if (rest.find_first_not_of("?#", mark) != std::string::npos || rest.size() > mark + 2)
    throw wrongOption("baseUrl must not have a query or a fragment");
  const auto &[host, port] = *parts;
  const bool isDefault = !port || *port == (scheme == "https" ? 443 : 80);
  Address address{scheme + "://" + host + (isDefault ? "" : ":" + std::to_string(*port)),
                  normalizePath(rest.substr(0, mark).substr(rest.empty() || mark == 0 ? 0 : 1))};
  // Signatures protect verdicts over plain HTTP, but passwords are sent in clear text.
  if (scheme == "http" && !isLoopback(host))
    std::fprintf(stderr, "KEYWARD_PLAIN_HTTP: %s is not encrypted: passwords and keys can be read on the way\n",
                 address.origin.c_str());
  return address;
}

}  // namespace keyward::detail
