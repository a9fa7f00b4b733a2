#pragma once

#include "errors.hpp"
#include "platform.hpp"
#include "text.hpp"

namespace keyward::detail {

inline void checkArgument(const char *name, const std::string &value) {
  if (!isValidUtf8(value)) throw UsageError("invalid_argument", std::string(name) + " must be UTF-8");
}

inline std::string toKey(const std::string &licenseKey) {
  checkArgument("licenseKey", licenseKey);
  return trim(licenseKey);
}

inline std::string encodePathSegment(const std::string &text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (isAlnum(c) || (c != '\0' && std::strchr("-_.!~*'()", c))) {
      out += c;
    } else {
      out += '%';
      out += "0123456789ABCDEF"[byte >> 4];
      out += "0123456789ABCDEF"[byte & 15];
    }
  }
  return out;
}

inline std::size_t countCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace keyward::detail
