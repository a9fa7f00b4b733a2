#pragma once

#include "json.hpp"
#include "platform.hpp"

namespace keyward::detail {

inline void writeJsonString(std::string &out, std::string_view text) {
  const auto escape = [&](unsigned point) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", point & 0xFFFFu);
    out += code;
  };
  out += '"';
  for (std::size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      escape(byte);
    } else if (byte == 0xED && at + 2 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) {
      // Half of a surrogate pair, which UTF-8 cannot express.
      escape(0xD000u | ((static_cast<unsigned char>(text[at + 1]) & 0x3Fu) << 6) |
             (static_cast<unsigned char>(text[at + 2]) & 0x3Fu));
      at += 2;
    } else {
      out += c;
    }
  }
  out += '"';
}

inline std::string formatNumber(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text;
  for (const int digits : {15, 16, 17}) {
    std::ostringstream stream;
    stream.imbue(std::locale::classic());
    stream.precision(digits);
    stream << value;
    text = stream.str();
    std::istringstream back(text);
    back.imbue(std::locale::classic());
    double read = 0;
    back >> read;
    if (!(read < value) && !(value < read)) break;
  }
  return text;
}

}  // namespace keyward::detail

namespace keyward {

inline void Json::write(std::string &out) const {
  const auto list = [&](const auto &parts, char open, char close, const auto &one) {
    out += open;
    bool first = true;
    for (const auto &part : parts) {
      if (!first) out += ',';
      first = false;
      one(part);
    }
    out += close;
  };
  switch (type_) {
    case Type::null:
      out += "null";
      break;
    case Type::boolean:
      out += boolean_ ? "true" : "false";
      break;
    case Type::number:
      out += detail::formatNumber(number_);
      break;
    case Type::string:
      detail::writeJsonString(out, string_);
      break;
    case Type::array:
      list(array_, '[', ']', [&](const Json &item) { item.write(out); });
      break;
    case Type::object:
      list(members_, '{', '}', [&](const Member &member) {
        detail::writeJsonString(out, member.name);
        out += ':';
        member.value.write(out);
      });
      break;
  }
}

}  // namespace keyward
