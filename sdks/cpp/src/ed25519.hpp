#pragma once

#include "ed25519_curve.hpp"
#include "ed25519_field.hpp"
#include "platform.hpp"
#include "sha2.hpp"
#include "sodium.hpp"

#ifndef KEYWARD_LIBSODIUM

/** Verification of RFC 8032, section 5.1.7. It handles public values alone, so its time may depend on them. */
namespace keyward::detail::ed25519 {

/** The order of the base point, little endian. */
inline constexpr Encoded order = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                  0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                  0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

/** Little endian. */
inline bool isBelowOrder(const Encoded &scalar) {
  for (std::size_t i = 32; i-- > 0;)
    if (scalar[i] != order[i]) return scalar[i] < order[i];
  return false;
}

/** A number of 512 bits modulo the order, bit by bit from the top. */
inline Encoded reduce(std::string_view bytes) {
  Encoded rest{};
  for (std::size_t i = bytes.size(); i-- > 0;) {
    for (unsigned bit = 8; bit-- > 0;) {
      unsigned over = (static_cast<unsigned char>(bytes[i]) >> bit) & 1u;
      for (unsigned char &byte : rest) {
        const unsigned doubled = byte * 2u + over;
        byte = static_cast<unsigned char>(doubled & 0xFF);
        over = doubled >> 8;
      }
      if (isBelowOrder(rest)) continue;
      int borrow = 0;
      for (std::size_t j = 0; j < 32; j++) {
        const int left = rest[j] - order[j] - borrow;
        borrow = left < 0 ? 1 : 0;
        rest[j] = static_cast<unsigned char>(left + borrow * 256);
      }
    }
  }
  return rest;
}

/** A scalar as digits that are 0 or odd, from -15 to 15. At least four zeros follow each other digit, which saves additions. */
using Digits = std::array<int, 257>;

inline Digits toDigits(const Encoded &scalar) {
  Digits digits{};
  int over = 0;
  for (std::size_t at = 0; at < digits.size();) {
    const auto bit = [&](std::size_t place) { return place < 256 ? (scalar[place / 8] >> (place % 8)) & 1 : 0; };
    if ((bit(at) ^ over) == 0) {
      at++;
      continue;
    }
    int digit = over;
    for (std::size_t i = 0; i < 5; i++) digit += bit(at + i) << i;
    over = digit > 15 ? 1 : 0;
    digits[at] = digit - 32 * over;
    at += 5;
  }
  return digits;
}

/** The odd multiples up to 15 times a point. */
class Multiples {
 public:
  explicit Multiples(const Point &p) {
    const Point two = twice(p);
    points_[0] = p;
    for (std::size_t i = 1; i < points_.size(); i++) points_[i] = points_[i - 1] + two;
  }

  void addTo(Point &sum, int digit) const {
    if (digit == 0) return;
    const Point &point = points_[static_cast<std::size_t>(digit > 0 ? digit : -digit) / 2];
    sum = sum + (digit > 0 ? point : negate(point));
  }

 private:
  std::array<Point, 8> points_;
};

/** s * P + h * Q, of scalars below 2^253. */
inline Point combine(const Encoded &s, const Multiples &p, const Encoded &h, const Multiples &q) {
  const Digits sDigits = toDigits(s);
  const Digits hDigits = toDigits(h);
  Point out = identity();
  for (std::size_t at = sDigits.size(); at-- > 0;) {
    out = twice(out);
    p.addTo(out, sDigits[at]);
    q.addTo(out, hDigits[at]);
  }
  return out;
}

inline const Multiples &baseMultiples() {
  static const Multiples base(*decodePoint(encode(fromInt(4) * invert(fromInt(5)))));
  return base;
}

inline Encoded toEncoded(std::string_view bytes) {
  Encoded out{};
  for (std::size_t i = 0; i < 32; i++) out[i] = static_cast<unsigned char>(bytes[i]);
  return out;
}

/** Rejects what RFC 8032 does not require to accept: S from the order on, other encodings, points of small order. */
inline bool isSignature(std::string_view key, std::string_view message, std::string_view signature) {
  if (key.size() != 32 || signature.size() != 64) return false;
  const Encoded s = toEncoded(signature.substr(32));
  if (!isBelowOrder(s)) return false;
  const std::optional<Point> a = decodePoint(toEncoded(key));
  if (!a || isSmallOrder(*a)) return false;
  std::string hashed(signature.substr(0, 32));
  hashed += key;
  hashed += message;
  const Point r = combine(s, baseMultiples(), reduce(sha512(hashed)), Multiples(negate(*a)));
  // Only the canonical encoding of R is equal to this one.
  return !isSmallOrder(r) && encodePoint(r) == toEncoded(signature.substr(0, 32));
}

}  // namespace keyward::detail::ed25519

namespace keyward::detail {

inline bool verifyEd25519(std::string_view key, std::string_view message, std::string_view signature) {
  return ed25519::isSignature(key, message, signature);
}

}  // namespace keyward::detail

#endif
