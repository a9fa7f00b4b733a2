#pragma once

#include "platform.hpp"

#ifndef KEYWARD_LIBSODIUM

namespace keyward::detail::ed25519 {

using Encoded = std::array<unsigned char, 32>;

/**
 * An element of the field modulo 2^255 - 19: ten limbs of 26 and 25 bits in turn, with a sign. Every operation carries, so
 * that a limb never exceeds 1.1 times 2^25 and a product of two elements fits into 64 bits.
 */
struct Field {
  std::int64_t limbs[10] = {};
};

inline constexpr unsigned bitsOf(std::size_t limb) { return limb % 2 == 0 ? 26 : 25; }

/** To the nearest multiple, so that limbs stay small in both directions. 2^255 is 19 in this field. */
inline void carry(Field &a) {
  const auto pass = [&](std::size_t i) {
    const std::int64_t unit = std::int64_t{1} << bitsOf(i);
    const std::int64_t over = (a.limbs[i] + unit / 2) >> bitsOf(i);
    a.limbs[i] -= over * unit;
    a.limbs[(i + 1) % 10] += i == 9 ? 19 * over : over;
  };
  for (std::size_t i = 0; i < 10; i++) pass(i);
  pass(0);
}

inline Field fromInt(std::int64_t value) {
  Field out;
  out.limbs[0] = value;
  carry(out);
  return out;
}

inline Field operator+(const Field &a, const Field &b) {
  Field out;
  for (std::size_t i = 0; i < 10; i++) out.limbs[i] = a.limbs[i] + b.limbs[i];
  carry(out);
  return out;
}

inline Field operator-(const Field &a, const Field &b) {
  Field out;
  for (std::size_t i = 0; i < 10; i++) out.limbs[i] = a.limbs[i] - b.limbs[i];
  carry(out);
  return out;
}

inline Field operator*(const Field &a, const Field &b) {
  // Two limbs of odd places stand one bit higher than their sum; what exceeds 2^255 comes back 19 times.
  std::int64_t doubled[10];
  std::int64_t around[20];
  for (std::size_t i = 0; i < 10; i++) {
    doubled[i] = i % 2 == 0 ? a.limbs[i] : 2 * a.limbs[i];
    around[i] = 19 * b.limbs[i];
    around[i + 10] = b.limbs[i];
  }
  Field out;
  for (std::size_t place = 0; place < 10; place++) {
    const std::int64_t *factors = place % 2 == 0 ? doubled : a.limbs;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 10; i++) sum += factors[i] * around[place + 10 - i];
    out.limbs[place] = sum;
  }
  carry(out);
  return out;
}

/** The canonical encoding, below 2^255 - 19. */
inline Encoded encode(Field a) {
  // The number of times that 2^255 - 19 fits, from what adding 19 would carry out at the top.
  std::int64_t times = (19 * a.limbs[9] + (1 << 24)) >> 25;
  for (std::size_t i = 0; i < 10; i++) times = (a.limbs[i] + times) >> bitsOf(i);
  a.limbs[0] += 19 * times;
  Encoded out{};
  std::uint64_t bits = 0;
  unsigned held = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < 10; i++) {
    const std::int64_t unit = std::int64_t{1} << bitsOf(i);
    const std::int64_t over = a.limbs[i] >> bitsOf(i);
    if (i < 9) a.limbs[i + 1] += over;
    bits |= static_cast<std::uint64_t>(a.limbs[i] - over * unit) << held;
    for (held += bitsOf(i); held >= 8; held -= 8, bits >>= 8) out[at++] = static_cast<unsigned char>(bits & 0xFF);
  }
  out[at] = static_cast<unsigned char>(bits & 0x7F);
  return out;
}

/** Ignores the highest bit, which is the sign of the other coordinate. */
inline Field decode(const Encoded &bytes) {
  Field out;
  std::uint64_t bits = 0;
  unsigned held = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < 10; i++) {
    for (; held < bitsOf(i) && at < bytes.size(); held += 8) {
      const unsigned byte = at == 31 ? bytes[at] & 0x7Fu : bytes[at];
      bits |= static_cast<std::uint64_t>(byte) << held;
      at++;
    }
    out.limbs[i] = static_cast<std::int64_t>(bits & ((std::uint64_t{1} << bitsOf(i)) - 1));
    bits >>= bitsOf(i);
    held -= bitsOf(i);
  }
  carry(out);
  return out;
}

inline bool isEqual(const Field &a, const Field &b) { return encode(a) == encode(b); }
inline bool isZero(const Field &a) { return isEqual(a, Field{}); }
inline bool isOdd(const Field &a) { return (encode(a)[0] & 1) != 0; }

inline Field square(Field a, int times = 1) {
  for (; times > 0; times--) a = a * a;
  return a;
}

/** To the powers of 2^250 - 1 and 11. */
struct Powers {
  explicit Powers(const Field &a) {
    const Field two = square(a);
    const Field nine = square(two, 2) * a;
    eleven = nine * two;
    const Field ones5 = square(eleven) * nine;
    const Field ones10 = square(ones5, 5) * ones5;
    const Field ones20 = square(ones10, 10) * ones10;
    const Field ones40 = square(ones20, 20) * ones20;
    const Field ones50 = square(ones40, 10) * ones10;
    const Field ones100 = square(ones50, 50) * ones50;
    const Field ones200 = square(ones100, 100) * ones100;
    ones250 = square(ones200, 50) * ones50;
  }

  Field ones250, eleven;
};

/** To the power of p - 2. */
inline Field invert(const Field &a) {
  const Powers powers(a);
  return square(powers.ones250, 5) * powers.eleven;
}

/** To the power of (p - 5) / 8. */
inline Field rootPower(const Field &a) { return square(Powers(a).ones250, 2) * a; }

}  // namespace keyward::detail::ed25519

#endif
