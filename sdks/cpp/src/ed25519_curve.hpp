#pragma once

#include "ed25519_field.hpp"
#include "platform.hpp"

#ifndef KEYWARD_LIBSODIUM

namespace keyward::detail::ed25519 {

/** A point in extended coordinates: x = X/Z, y = Y/Z, x * y = T/Z. */
struct Point {
  Field x, y, z, t;
};

struct Curve {
  Field d, twiceD, rootOfMinusOne;

  Curve() {
    d = (fromInt(0) - fromInt(121665)) * invert(fromInt(121666));
    twiceD = d + d;
    // 2 to the power of (p - 1) / 4, which is twice (p - 5) / 8 and one more.
    const Field root = rootPower(fromInt(2));
    rootOfMinusOne = root * root * fromInt(2);
  }
};

inline const Curve &curve() {
  static const Curve one;
  return one;
}

inline Point identity() { return {fromInt(0), fromInt(1), fromInt(1), fromInt(0)}; }
inline Point negate(const Point &p) { return {fromInt(0) - p.x, p.y, p.z, fromInt(0) - p.t}; }

/** Complete: valid for all pairs of points, equal ones included. */
inline Point operator+(const Point &p, const Point &q) {
  const Field a = (p.y - p.x) * (q.y - q.x);
  const Field b = (p.y + p.x) * (q.y + q.x);
  const Field c = p.t * q.t * curve().twiceD;
  const Field zz = p.z * q.z;
  const Field dd = zz + zz;
  const Field e = b - a;
  const Field f = dd - c;
  const Field g = dd + c;
  const Field h = b + a;
  return {e * f, g * h, f * g, e * h};
}

/** p + p, in fewer steps. */
inline Point twice(const Point &p) {
  const Field xx = square(p.x);
  const Field yy = square(p.y);
  const Field zz = square(p.z);
  const Field h = xx + yy;
  const Field e = h - square(p.x + p.y);
  const Field g = xx - yy;
  const Field f = zz + zz + g;
  return {e * f, g * h, f * g, e * h};
}

/** Returns nothing unless the encoding is canonical and a point of the curve. */
inline std::optional<Point> decodePoint(const Encoded &bytes) {
  const bool sign = (bytes[31] & 0x80) != 0;
  Encoded unsignedBytes = bytes;
  unsignedBytes[31] &= 0x7F;
  const Field y = decode(bytes);
  if (encode(y) != unsignedBytes) return std::nullopt;
  const Field yy = y * y;
  const Field u = yy - fromInt(1);
  const Field v = curve().d * yy + fromInt(1);
  const Field v3 = v * v * v;
  Field x = u * v3 * rootPower(u * v3 * v3 * v);
  const Field check = v * x * x;
  if (!isEqual(check, u)) {
    if (!isZero(check + u)) return std::nullopt;
    x = x * curve().rootOfMinusOne;
  }
  if (sign && isZero(x)) return std::nullopt;
  if (isOdd(x) != sign) x = fromInt(0) - x;
  return Point{x, y, fromInt(1), x * y};
}

inline Encoded encodePoint(const Point &p) {
  const Field inverse = invert(p.z);
  Encoded out = encode(p.y * inverse);
  if (isOdd(p.x * inverse)) out[31] |= 0x80;
  return out;
}

inline bool isSmallOrder(const Point &p) {
  const Point eight = twice(twice(twice(p)));
  return isZero(eight.x) && isEqual(eight.y, eight.z);
}

}  // namespace keyward::detail::ed25519

#endif
