#pragma once

#include "platform.hpp"

namespace keyward::detail {

/** Decodes UTF-8 as browsers do: without a byte order mark, and with U+FFFD for what is invalid. */
inline std::string toValidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  const std::string_view replacement = "\xEF\xBF\xBD";
  std::size_t at = bytes.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
  while (at < bytes.size()) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    if (first < 0x80) {
      out += bytes[at++];
      continue;
    }
    const std::size_t more = first >= 0xC2 && first <= 0xDF   ? 1
                             : first >= 0xE0 && first <= 0xEF ? 2
                             : first >= 0xF0 && first <= 0xF4 ? 3
                                                              : 0;
    unsigned char lower = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char upper = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    std::size_t length = 1;
    while (length <= more && at + length < bytes.size()) {
      const auto next = static_cast<unsigned char>(bytes[at + length]);
      if (next < lower || next > upper) break;
      lower = 0x80;
      upper = 0xBF;
      length++;
    }
    if (more > 0 && length == more + 1)
      out += bytes.substr(at, length);
    else
      out += replacement;
    at += length;
  }
  return out;
}

inline bool isValidUtf8(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? isValidUtf8(text.substr(3)) : toValidUtf8(text) == text;
}

inline void appendUtf8(std::string &out, std::uint32_t point) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0 | (point >> 6));
    add(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    add(0xE0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  } else {
    add(0xF0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3F));
    add(0x80 | ((point >> 6) & 0x3F));
    add(0x80 | (point & 0x3F));
  }
}

/** The bytes of the first character of a valid text, or 1. */
inline std::size_t characterBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return (std::min)(length, text.size());
}

/** The length in UTF-16 code units, in which the protocol counts. */
inline std::size_t utf16Length(std::string_view text) {
  std::size_t length = 0;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    length += (byte & 0xC0) == 0x80 ? 0u : byte >= 0xF0 ? 2u : 1u;
  }
  return length;
}

inline std::string cutUtf16(std::string_view text, std::size_t max) {
  std::size_t at = 0;
  for (std::size_t units = 0; at < text.size();) {
    const std::size_t bytes = characterBytes(text.substr(at));
    units += bytes == 4 ? 2 : 1;
    if (units > max) break;
    at += bytes;
  }
  return std::string(text.substr(0, at));
}

inline bool isWhiteSpace(std::string_view c) {
  if (c.size() == 1) return c[0] == ' ' || (c[0] >= '\t' && c[0] <= '\r');
  static const std::set<std::string_view> &others = *new std::set<std::string_view>{
      "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84",
      "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
      "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80", "\xEF\xBB\xBF"};
  return others.count(c) > 0;
}

/** Removes the same white space as `trim` of JavaScript. */
inline std::string trim(std::string_view text) {
  while (!text.empty() && isWhiteSpace(text.substr(0, characterBytes(text)))) text.remove_prefix(characterBytes(text));
  while (!text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) start--;
    if (!isWhiteSpace(text.substr(start))) break;
    text = text.substr(0, start);
  }
  return std::string(text);
}

inline char asciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isAlnum(char c) { return isDigit(c) || (asciiLower(c) >= 'a' && asciiLower(c) <= 'z'); }
inline bool isWord(char c) { return isAlnum(c) || c == '_'; }

inline std::string lowerAscii(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), asciiLower);
  return out;
}

/** Lower case of ASCII, Latin, Greek and Cyrillic letters: host names and serial numbers have no others with case. */
inline std::string toLower(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = characterBytes(text.substr(at));
    if (bytes == 1) {
      out += asciiLower(text[at]);
    } else if (bytes == 2) {
      std::uint32_t point = ((static_cast<unsigned char>(text[at]) & 0x1Fu) << 6) |
                            (static_cast<unsigned char>(text[at + 1]) & 0x3Fu);
      if ((point >= 0xC0 && point <= 0xDE && point != 0xD7) || (point >= 0x391 && point <= 0x3A9) ||
          (point >= 0x410 && point <= 0x42F))
        point += 0x20;
      else if (point >= 0x400 && point <= 0x40F)
        point += 0x50;
      else if (((point >= 0x100 && point <= 0x12F) || (point >= 0x132 && point <= 0x137) ||
                (point >= 0x14A && point <= 0x177)) &&
               point % 2 == 0)
        point += 1;
      else if (((point >= 0x139 && point <= 0x148) || (point >= 0x179 && point <= 0x17E)) && point % 2 == 1)
        point += 1;
      appendUtf8(out, point);
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes;
  }
  return out;
}

}  // namespace keyward::detail
