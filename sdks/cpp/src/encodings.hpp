#pragma once

#include "platform.hpp"
#include "text.hpp"

namespace keyward::detail {

inline std::string toHex(std::string_view bytes) {
  std::string out;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

inline std::optional<std::string> fromHex(std::string_view text) {
  const auto digit = [](char c) { return isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = digit(text[at]);
    const int low = digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
  }
  return out;
}

inline constexpr const char *base64Symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string toBase64(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; i++)
      group = (group << 8) | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; i++)
      out += at + i < bytes.size() + 1 ? base64Symbols[(group >> (18 - 6 * i)) & 63] : '=';
  }
  return out;
}

inline std::string toBase64Url(std::string_view bytes) {
  std::string out = toBase64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

/** Decodes canonical base64 only, so that each value has one spelling. */
inline std::optional<std::string> fromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  std::uint32_t group = 0;
  for (std::size_t at = 0; at < text.size(); at++) {
    const char *found = text[at] == '=' || text[at] == 0 ? nullptr : std::strchr(base64Symbols, text[at]);
    if (!found && !(text[at] == '=' && at + 2 >= text.size())) return std::nullopt;
    group = (group << 6) | (found ? static_cast<std::uint32_t>(found - base64Symbols) : 0u);
    if (at % 4 != 3) continue;
    for (const unsigned shift : {16u, 8u, 0u}) out += static_cast<char>(static_cast<unsigned char>(group >> shift));
    group = 0;
  }
  for (std::size_t back = 0; back < 2 && back < text.size() && text[text.size() - 1 - back] == '='; back++)
    out.pop_back();
  return toBase64(out) == text ? std::optional<std::string>(out) : std::nullopt;
}

/** Decodes canonical base64url without padding. */
inline std::optional<std::string> fromBase64Url(std::string_view text) {
  std::string padded(text);
  for (char &c : padded) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  }
  while (padded.size() % 4 != 0) padded += '=';
  return fromBase64(padded);
}

inline const unsigned char *toBytes(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

inline unsigned char *toBytes(std::string &text) { return reinterpret_cast<unsigned char *>(text.data()); }

}  // namespace keyward::detail
