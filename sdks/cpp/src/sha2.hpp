#pragma once

#include "encodings.hpp"
#include "errors.hpp"
#include "platform.hpp"
#include "sodium.hpp"

#ifndef KEYWARD_LIBSODIUM

namespace keyward::detail {

/** SHA-256 and SHA-512 of FIPS 180-4, which differ in their words. The constants of SHA-256 are the upper halves of these. */
namespace sha2 {

inline constexpr std::uint64_t constants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

inline constexpr std::uint64_t firstState[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/** The amounts of the rotations, and of the shift at the end of the two that expand the message. */
struct Amounts {
  unsigned e[3], a[3], older[3], newer[3];
};
inline constexpr Amounts amounts32 = {{6, 11, 25}, {2, 13, 22}, {7, 18, 3}, {17, 19, 10}};
inline constexpr Amounts amounts64 = {{14, 18, 41}, {28, 34, 39}, {1, 8, 7}, {19, 61, 6}};

template <class Word>
class Hash {
 public:
  Hash() {
    for (std::size_t i = 0; i < 8; i++) state_[i] = upper(firstState[i]);
  }

  void add(std::string_view bytes) {
    size_ += bytes.size();
    rest_ += bytes;
    std::size_t at = 0;
    for (; at + blockBytes <= rest_.size(); at += blockBytes) addBlock(toBytes(rest_) + at);
    rest_.erase(0, at);
  }

  std::string finish() {
    std::string rest = rest_;
    // One bit, zeros, and the length in bits. No message is so long that the length needs more than eight bytes.
    rest += '\x80';
    rest.append(2 * sizeof(Word) - 8, '\0');
    while ((rest.size() + 8) % blockBytes != 0) rest += '\0';
    for (unsigned shift = 64; shift > 0;) {
      shift -= 8;
      rest += static_cast<char>(static_cast<unsigned char>((size_ << 3) >> shift));
    }
    for (std::size_t at = 0; at < rest.size(); at += blockBytes) addBlock(toBytes(rest) + at);
    std::string out;
    for (const Word word : state_)
      for (std::size_t shift = 8 * sizeof(Word); shift > 0;) {
        shift -= 8;
        out += static_cast<char>(static_cast<unsigned char>(word >> shift));
      }
    return out;
  }

 private:
  static constexpr bool isLong = sizeof(Word) == 8;
  static constexpr std::size_t blockBytes = 16 * sizeof(Word);
  static constexpr std::size_t rounds = isLong ? 80 : 64;
  static constexpr Amounts amounts = isLong ? amounts64 : amounts32;

  static Word upper(std::uint64_t value) { return static_cast<Word>(isLong ? value : value >> 32); }
  static Word turn(Word word, unsigned by) { return static_cast<Word>((word >> by) | (word << (8 * sizeof(Word) - by))); }
  static Word turns(Word word, const unsigned (&by)[3]) { return turn(word, by[0]) ^ turn(word, by[1]) ^ turn(word, by[2]); }
  static Word mix(Word word, const unsigned (&by)[3]) { return turn(word, by[0]) ^ turn(word, by[1]) ^ (word >> by[2]); }

  void addBlock(const unsigned char *block) {
    Word words[rounds];
    for (std::size_t i = 0; i < 16; i++) {
      words[i] = 0;
      for (std::size_t j = 0; j < sizeof(Word); j++) words[i] = static_cast<Word>((words[i] << 8) | block[i * sizeof(Word) + j]);
    }
    for (std::size_t i = 16; i < rounds; i++)
      words[i] = mix(words[i - 2], amounts.newer) + words[i - 7] + mix(words[i - 15], amounts.older) + words[i - 16];
    Word s[8];
    std::copy(std::begin(state_), std::end(state_), std::begin(s));
    for (std::size_t i = 0; i < rounds; i++) {
      const Word one = s[7] + turns(s[4], amounts.e) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + upper(constants[i]) + words[i];
      const Word two = turns(s[0], amounts.a) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      for (std::size_t j = 7; j > 0; j--) s[j] = s[j - 1];
      s[4] += one;
      s[0] = one + two;
    }
    for (std::size_t i = 0; i < 8; i++) state_[i] += s[i];
  }

  Word state_[8];
  std::string rest_;
  std::uint64_t size_ = 0;
};

template <class Word>
std::string hashOf(std::string_view bytes) {
  Hash<Word> hash;
  hash.add(bytes);
  return hash.finish();
}

}  // namespace sha2

using Sha512 = sha2::Hash<std::uint64_t>;

inline std::string sha256(std::string_view bytes) { return sha2::hashOf<std::uint32_t>(bytes); }
inline std::string sha512(std::string_view bytes) { return sha2::hashOf<std::uint64_t>(bytes); }

inline std::string randomBytes(std::size_t length) {
  std::string out(length, '\0');
#ifdef _WIN32
  const bool isRandom =
      BCryptGenRandom(nullptr, toBytes(out), static_cast<ULONG>(length), BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
#else
  const bool isRandom = getentropy(out.data(), length) == 0;
#endif
  if (!isRandom) throw UsageError("crypto_unavailable", "This system has no random numbers");
  return out;
}

}  // namespace keyward::detail

#endif
