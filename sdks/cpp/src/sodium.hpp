#pragma once

#include "encodings.hpp"
#include "errors.hpp"
#include "platform.hpp"

#ifdef KEYWARD_LIBSODIUM

namespace keyward::detail {

inline void useSodium() {
  static const bool isReady = sodium_init() >= 0;
  if (!isReady) throw UsageError("crypto_unavailable", "libsodium does not start on this system");
}

inline std::string sha256(std::string_view bytes) {
  useSodium();
  std::string out(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(toBytes(out), toBytes(bytes), bytes.size());
  return out;
}

class Sha512 {
 public:
  Sha512() {
    useSodium();
    crypto_hash_sha512_init(&state_);
  }
  void add(std::string_view bytes) { crypto_hash_sha512_update(&state_, toBytes(bytes), bytes.size()); }
  std::string finish() {
    std::string out(crypto_hash_sha512_BYTES, '\0');
    crypto_hash_sha512_final(&state_, toBytes(out));
    return out;
  }

 private:
  crypto_hash_sha512_state state_;
};

inline std::string randomBytes(std::size_t length) {
  useSodium();
  std::string out(length, '\0');
  randombytes_buf(toBytes(out), length);
  return out;
}

inline bool verifyEd25519(std::string_view key, std::string_view message, std::string_view signature) {
  useSodium();
  return key.size() == 32 && signature.size() == 64 &&
         crypto_sign_verify_detached(toBytes(signature), toBytes(message), message.size(), toBytes(key)) == 0;
}

}  // namespace keyward::detail

#endif
