#pragma once

#include "ed25519.hpp"
#include "platform.hpp"
#include "sha2.hpp"
#include "sodium.hpp"

namespace keyward::detail {

/** RFC 2104. */
inline std::string hmacSha256(std::string_view key, std::string_view message) {
  const std::string padded = key.size() > 64 ? sha256(key) : std::string(key);
  std::string inner(64, '\x36');
  std::string outer(64, '\x5c');
  for (std::size_t i = 0; i < padded.size(); i++) {
    inner[i] = static_cast<char>(inner[i] ^ padded[i]);
    outer[i] = static_cast<char>(outer[i] ^ padded[i]);
  }
  return sha256(outer.append(sha256(inner.append(message))));
}

}  // namespace keyward::detail
