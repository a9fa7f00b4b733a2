#pragma once

#include "cryptography.hpp"
#include "platform.hpp"

namespace keyward::detail {

/** Crockford base32 in groups with dashes; zero bits fill the last symbol. */
inline std::string toCrockford(std::string_view bytes, std::size_t group) {
  static constexpr const char *symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  std::string out;
  std::size_t count = 0;
  std::uint32_t value = 0;
  unsigned bits = 0;
  const auto add = [&](std::uint32_t symbol) {
    if (count > 0 && count % group == 0) out += '-';
    out += symbols[symbol & 31];
    count++;
  };
  for (const char each : bytes) {
    value = ((value << 8) | static_cast<unsigned char>(each)) & 0xFFF;
    for (bits += 8; bits >= 5; bits -= 5) add(value >> (bits - 5));
  }
  if (bits > 0) add(value << (5 - bits));
  return out;
}

/** The request of a machine that is never online, as the vendor's console reads it. */
inline std::string encodeRequest(const std::string &appId, const std::string &hwid, const std::string &licenseKey,
                                 const std::string &nonce) {
  const std::string body = '\x01' + nonce + sha256(hwid) + licenseKey;
  return "KWR1-" + toCrockford(body + sha256(appId + body).substr(0, 4), 5);
}

}  // namespace keyward::detail
