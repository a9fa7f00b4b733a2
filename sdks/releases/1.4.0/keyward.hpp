// Keyward SDK for C++17, version 1.4.0. Puts a program behind a Keyward license.
// One header: include it wherever you need it. Linux and macOS link libcurl, Windows links winhttp, bcrypt, advapi32
// and iphlpapi. The server explains the protocol at /docs/client-protocol.
// SPDX-License-Identifier: Apache-2.0
#ifndef KEYWARD_HPP
#define KEYWARD_HPP

// version.hpp

// Written by packages/sdk/generate.ts from the contract.
namespace keyward {

/** What the program sends as `sdk` when it opens a session. */
inline constexpr const char *sdk = "keyward-cpp/1.4.0";

}  // namespace keyward

// platform.hpp

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>
#include <bcrypt.h>
#include <iphlpapi.h>
#include <winhttp.h>
#ifdef _MSC_VER
#pragma comment(lib, "winhttp.lib")
#pragma comment(lib, "bcrypt.lib")
#pragma comment(lib, "advapi32.lib")
#pragma comment(lib, "iphlpapi.lib")
#endif
#else
#include <cerrno>
#include <curl/curl.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/if_packet.h>
#else
#include <net/if_dl.h>
#include <sys/random.h>
#endif
#ifdef __APPLE__
#include <crt_externs.h>
#else
extern "C" {
extern char **environ;
}
#endif
#endif
#ifdef KEYWARD_LIBSODIUM
#include <sodium.h>
#endif

// errors.hpp

namespace keyward {

/** Base class of all errors that the SDK throws. A refused license is a result, not an error. */
class Error : public std::runtime_error {
 public:
  Error(std::string theCode, const std::string &message) : std::runtime_error(message), code(std::move(theCode)) {}

  std::string code;
};

/**
 * No verdict, because there is no usable response. Retry later; do not treat it as a refusal. `code` is `unreachable`,
 * `certificate`, `clock`, `connection_lost`, `timed_out`, `rate_limited`, `server_error`, `captive_portal`, `wrong_address`,
 * `unknown_app`, `blocked` or `unexpected_answer`.
 */
class NetworkError : public Error {
 public:
  NetworkError(std::string theCode, const std::string &message, bool unknown, std::optional<int> theStatus = {},
               std::optional<std::int64_t> retryAfter = {})
      : Error(std::move(theCode), message), status(theStatus), retryAfterMs(retryAfter), outcomeUnknown(unknown) {}

  /** The HTTP status, if there was a response. */
  std::optional<int> status;
  /** How long the server asks to wait, if it sent Retry-After. */
  std::optional<std::int64_t> retryAfterMs;
  /**
   * True if the server may have executed the call although no response arrived. After `register_`, try `login`; after
   * `upgrade`, check the user's expiry.
   */
  bool outcomeUnknown;
  /** Why the stored lease or activation could not stand in for the server: `no_lease`, `lease_ended` or `clock_set_back`. */
  std::optional<std::string> offline;
};

/**
 * A response with a signature that does not prove it to be the server's response to this request. Do not continue. `code`
 * is `malformed_signature`, `wrong_coverage`, `wrong_parameters`, `unknown_key`, `digest_mismatch`, `bad_signature` or
 * `body_too_large`.
 */
class SignatureError : public Error {
 public:
  SignatureError(std::string theCode, const std::string &message, int theStatus)
      : Error(std::move(theCode), message), status(theStatus) {}

  /** The HTTP status of the rejected response. */
  int status;
};

/**
 * A mistake in the calling program; retrying does not help. `code` is `invalid_options`, `invalid_argument`,
 * `hwid_unavailable`, `hwid_unreadable`, `crypto_unavailable`, `activation_rejected`, `no_activation` or `storage_failed`.
 */
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace keyward

// json.hpp

namespace keyward {

/** A JSON value. Numbers are doubles; of a repeated member the last one counts, as in JavaScript. */
class Json {
 public:
  enum class Type { null, boolean, number, string, array, object };
  struct Member;
  using Array = std::vector<Json>;
  /** Sorted by name. */
  using Object = std::vector<Member>;

  Json() noexcept;
  Json(const Json &);
  Json(Json &&) noexcept;
  Json &operator=(const Json &);
  Json &operator=(Json &&) noexcept;
  ~Json();
  Json(std::nullptr_t) noexcept : Json() {}
  Json(std::string text);
  Json(const char *text);
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Json(T value) : Json() {
    if constexpr (std::is_same_v<T, bool>) {
      type_ = Type::boolean;
      boolean_ = value;
    } else {
      type_ = Type::number;
      number_ = static_cast<double>(value);
    }
  }
  static Json array(Array items = {});
  static Json object();

  /** Reads JSON in UTF-8; nothing if it is not valid, or nested more than 256 levels deep. */
  static std::optional<Json> parse(std::string_view text);
  std::string dump() const;

  Type type() const noexcept { return type_; }
  bool isNull() const noexcept { return type_ == Type::null; }
  bool isBoolean() const noexcept { return type_ == Type::boolean; }
  bool isNumber() const noexcept { return type_ == Type::number; }
  bool isString() const noexcept { return type_ == Type::string; }
  bool isArray() const noexcept { return type_ == Type::array; }
  bool isObject() const noexcept { return type_ == Type::object; }
  bool isTrue() const noexcept { return type_ == Type::boolean && boolean_; }
  bool isFalse() const noexcept { return type_ == Type::boolean && !boolean_; }
  /** The number, or `fallback` for another type. */
  double number(double fallback = 0) const noexcept { return isNumber() ? number_ : fallback; }
  /** The text, or an empty one for another type. */
  const std::string &string() const noexcept;
  /** The text, or nothing for another type. */
  std::optional<std::string> text() const;
  const Array &items() const noexcept { return array_; }
  const Object &members() const noexcept;
  /** A member of an object; null without it. */
  const Json *find(std::string_view name) const noexcept;
  /** A member of an object; a JSON null without it. */
  const Json &operator[](std::string_view name) const noexcept;
  Json &set(std::string name, Json value);
  void erase(std::string_view name);
  void push(Json item);
  bool operator==(const Json &other) const noexcept;
  bool operator!=(const Json &other) const noexcept { return !(*this == other); }

 private:
  class Parser;
  void write(std::string &out) const;

  Type type_ = Type::null;
  bool boolean_ = false;
  double number_ = 0;
  std::string string_;
  Array array_;
  std::vector<Member> members_;
};

struct Json::Member {
  std::string name;
  Json value;
};

inline Json::Json() noexcept = default;
inline Json::Json(const Json &) = default;
inline Json::Json(Json &&) noexcept = default;
inline Json &Json::operator=(const Json &) = default;
inline Json &Json::operator=(Json &&) noexcept = default;
inline Json::~Json() = default;
inline Json::Json(std::string text) : type_(Type::string), string_(std::move(text)) {}
inline Json::Json(const char *text) : type_(Type::string), string_(text) {}

inline Json Json::array(Array items) {
  Json value;
  value.type_ = Type::array;
  value.array_ = std::move(items);
  return value;
}

inline Json Json::object() {
  Json value;
  value.type_ = Type::object;
  return value;
}

inline const std::string &Json::string() const noexcept { return string_; }

inline std::optional<std::string> Json::text() const {
  return isString() ? std::optional<std::string>(string_) : std::nullopt;
}

inline const Json::Object &Json::members() const noexcept { return members_; }

inline const Json *Json::find(std::string_view name) const noexcept {
  const auto at = std::lower_bound(members_.begin(), members_.end(), name,
                                   [](const Member &one, std::string_view sought) { return one.name < sought; });
  return at != members_.end() && at->name == name ? &at->value : nullptr;
}

inline const Json &Json::operator[](std::string_view name) const noexcept {
  // Never destroyed, like the other constants: a thread may still use it while the program ends.
  static const Json &none = *new Json;
  const Json *found = find(name);
  return found ? *found : none;
}

inline Json &Json::set(std::string name, Json value) {
  const auto at = std::lower_bound(members_.begin(), members_.end(), name,
                                   [](const Member &one, const std::string &sought) { return one.name < sought; });
  if (at != members_.end() && at->name == name)
    at->value = std::move(value);
  else
    members_.insert(at, Member{std::move(name), std::move(value)});
  return *this;
}

inline void Json::erase(std::string_view name) {
  members_.erase(std::remove_if(members_.begin(), members_.end(), [&](const Member &one) { return one.name == name; }),
                 members_.end());
}

inline void Json::push(Json item) { array_.push_back(std::move(item)); }

inline bool Json::operator==(const Json &other) const noexcept {
  if (type_ != other.type_) return false;
  switch (type_) {
    case Type::null:
      return true;
    case Type::boolean:
      return boolean_ == other.boolean_;
    case Type::number:
      return !(number_ < other.number_) && !(other.number_ < number_);
    case Type::string:
      return string_ == other.string_;
    case Type::array:
      return array_ == other.array_;
    case Type::object:
      return std::equal(members_.begin(), members_.end(), other.members_.begin(), other.members_.end(),
                        [](const Member &a, const Member &b) { return a.name == b.name && a.value == b.value; });
  }
  return false;
}

}  // namespace keyward

// text.hpp

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

// json_parser.hpp

namespace keyward {

class Json::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Json> parse() {
    Json value;
    if (!read(value, 0)) return std::nullopt;
    skip();
    return at_ == text_.size() ? std::optional<Json>(std::move(value)) : std::nullopt;
  }

 private:
  static constexpr int maxDepth = 256;

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      at_++;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  bool takeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::size_t takeDigits() {
    const std::size_t start = at_;
    while (at_ < text_.size() && detail::isDigit(text_[at_])) at_++;
    return at_ - start;
  }

  bool read(Json &out, int depth) {
    skip();
    if (at_ >= text_.size() || depth > maxDepth) return false;
    switch (text_[at_]) {
      case '{':
        return readObject(out, depth);
      case '[':
        return readArray(out, depth);
      case '"':
        out.type_ = Type::string;
        return readString(out.string_);
      case 't':
        out = true;
        return takeWord("true");
      case 'f':
        out = false;
        return takeWord("false");
      case 'n':
        return takeWord("null");
      default:
        return readNumber(out);
    }
  }

  bool readObject(Json &out, int depth) {
    out.type_ = Type::object;
    at_++;
    skip();
    if (take('}')) return true;
    do {
      skip();
      Member member;
      if (at_ >= text_.size() || text_[at_] != '"' || !readString(member.name)) return false;
      skip();
      if (!take(':') || !read(member.value, depth + 1)) return false;
      out.members_.push_back(std::move(member));
      skip();
    } while (take(','));
    if (!take('}')) return false;
    sort(out.members_);
    return true;
  }

  /** Sorts by name, and keeps the last of the members with the same name. */
  static void sort(Object &members) {
    std::stable_sort(members.begin(), members.end(),
                     [](const Member &a, const Member &b) { return a.name < b.name; });
    std::size_t kept = 0;
    for (std::size_t at = 0; at < members.size(); at++) {
      if (at + 1 < members.size() && members[at].name == members[at + 1].name) continue;
      if (kept != at) members[kept] = std::move(members[at]);
      kept++;
    }
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(kept), members.end());
  }

  bool readArray(Json &out, int depth) {
    out.type_ = Type::array;
    at_++;
    skip();
    if (take(']')) return true;
    do {
      Json item;
      if (!read(item, depth + 1)) return false;
      out.array_.push_back(std::move(item));
      skip();
    } while (take(','));
    return take(']');
  }

  bool readString(std::string &out) {
    at_++;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out += c;
      } else if (!readEscape(out)) {
        return false;
      }
    }
    return false;
  }

  bool readEscape(std::string &out) {
    if (at_ >= text_.size()) return false;
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view values = "\"\\/\b\f\n\r\t";
    const char c = text_[at_++];
    const std::size_t index = names.find(c);
    if (index != std::string_view::npos) {
      out += values[index];
      return true;
    }
    std::uint32_t point = 0;
    if (c != 'u' || !readHex(point)) return false;
    std::uint32_t low = 0;
    const std::size_t before = at_;
    if (point >= 0xD800 && point < 0xDC00 && takeWord("\\u")) {
      if (!readHex(low)) return false;
      if (low >= 0xDC00 && low < 0xE000)
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      else
        at_ = before;
    }
    detail::appendUtf8(out, point);
    return true;
  }

  bool readHex(std::uint32_t &point) {
    point = 0;
    for (int i = 0; i < 4; i++) {
      if (at_ >= text_.size()) return false;
      const char c = detail::asciiLower(text_[at_++]);
      if (!detail::isDigit(c) && !(c >= 'a' && c <= 'f')) return false;
      point = point * 16 + static_cast<std::uint32_t>(detail::isDigit(c) ? c - '0' : c - 'a' + 10);
    }
    return true;
  }

  bool readNumber(Json &out) {
    const std::size_t start = at_;
    take('-');
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const std::size_t digits = takeDigits();
    if (digits == 0 || (zero && digits > 1)) return false;
    if (take('.') && takeDigits() == 0) return false;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      at_++;
      if (!take('+')) take('-');
      if (takeDigits() == 0) return false;
    }
    out.type_ = Type::number;
    out.number_ = toDouble(text_.substr(start, at_ - start));
    return true;
  }

  /** Independent of the program's locale, unlike `strtod`. */
  static double toDouble(std::string_view text) {
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    double value = 0;
    stream >> value;
    if (stream.fail()) {
      const double infinity = std::numeric_limits<double>::infinity();
      return std::fabs(value) < 1 ? 0 : value < 0 ? -infinity : infinity;
    }
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

inline std::optional<Json> Json::parse(std::string_view text) {
  const std::string valid = detail::toValidUtf8(text);
  return Parser(valid).parse();
}

inline std::string Json::dump() const {
  std::string out;
  write(out);
  return out;
}

}  // namespace keyward

// json_writer.hpp

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

// results.hpp

namespace keyward {

/** How many devices a user has, of how many; -1 for unlimited. */
struct DeviceUse {
  int used = 0;
  int limit = 0;
};

/** The seat of a floating license: call `session` before it ends. */
struct Seat {
  std::string until;
};

/** The signed-in end user. Times are ISO 8601 UTC. */
struct SessionUser {
  std::string id;
  /** The license key itself for users who signed in by key alone. */
  std::string username;
  std::optional<std::string> email;
  /** When the license ends; nothing if it never expires. */
  std::optional<std::string> expiresAt;
  /** True after `expiresAt`, while the vendor's grace days still allow access. */
  bool inGrace = false;
  /** `date`: until a date; `forever`: never expires; `first_use`: for a duration since the first use. */
  std::string term;
  std::string createdAt;
  std::optional<std::string> lastLoginAt;
  /** Whether the user is bound to a machine. */
  bool hwidBound = false;
  /** Names of the features that the license includes; see `Client::has`. */
  std::vector<std::string> features;
  /** The app's variables for signed-in users, and the user's own, by name; see `Client::variable`. */
  std::map<std::string, std::string> variables;
  /** The license covers versions released until then; nothing if it covers all. */
  std::optional<std::string> updatesUntil;
  DeviceUse devices;
  std::optional<Seat> seat;
  /** True if the license covers a newer version; nothing from servers that do not say, and offline what they said last. */
  std::optional<bool> updateAvailable;
};

/** How long a program may go on without the server. Times are ISO 8601 UTC. */
struct OfflineState {
  /** When the lease or the activation ends; nothing if the activation never ends. */
  std::optional<std::string> until;
  /** When the program must stop; nothing for never. */
  std::optional<std::string> graceUntil;
  /** True between the two: tell the user to go online. */
  bool inGrace = false;
};

struct UserData {
  SessionUser user;
  /** Set if a lease or an activation of this machine stands in for the server. */
  std::optional<OfflineState> offline;
};

struct AppInfo {
  std::string name;
  std::string version;
};

struct InitData {
  /** When the session expires unless it is used. */
  std::string expiresAt;
  /** The app's name and its current version on the server. */
  AppInfo app;
  /** True when the server's version is newer than the `version` of the options. */
  bool updateAvailable = false;
  /** The app's public variables by name; see `Client::variable`. */
  std::map<std::string, std::string> variables;
};

struct ValidatedLicense {
  std::string key;
  bool used = false;
  std::optional<std::string> username;
  std::optional<std::string> expiresAt;
  bool inGrace = false;
  std::string term;
};

struct ValidateData {
  ValidatedLicense license;
  /** Whether this machine is a device of the license. False for an unused key: it is valid on any number of machines. */
  bool activated = false;
};

/** A machine on which the user has signed in. */
struct Device {
  std::string id;
  std::optional<std::string> name;
  std::optional<std::string> system;
  std::string firstSeenAt;
  std::string lastSeenAt;
};

struct DevicesData {
  /** The device seen last comes first; at most 200. */
  std::vector<Device> devices;
};

struct Nothing {};

struct InputError {
  std::string path;
  std::string message;
};

/** The result of a call: check `ok` first and deny access unless it is true. The data is set only then. */
template <class Data>
struct Result : Data {
  bool ok = false;
  /** Why the server refused: a license state such as `userBanned`, or a general code such as `invalid_input`. */
  std::string code;
  /** The text to show to the end user; a success may have none. */
  std::string message;
  /** Names a refusal: show it to the end user, and the app's owner finds the reason in the console. */
  std::string reference;
  /** Facts for the end user; only after the password or the license key was right. Null without any. */
  Json details;
  /** Invalid inputs, if `code` is `invalid_input`. */
  std::vector<InputError> errors;
  /** All of the result, with what newer servers may add. */
  Json json;
};

struct Credentials {
  std::string username;
  std::string password;
};

struct Registration {
  std::string username;
  std::string password;
  std::string licenseKey;
  std::optional<std::string> email = std::nullopt;
};

struct Upgrade {
  std::string username;
  std::string licenseKey;
};

struct Trial {
  /** A trial type of the app; by default its oldest. */
  std::optional<std::string> type = std::nullopt;
  std::optional<std::string> email = std::nullopt;
};

struct ValidateOptions {
  /** Redeems an unused key and binds this machine. */
  bool activate = false;
};

}  // namespace keyward

// options.hpp

namespace keyward {

/** A place that outlives the program, such as a file. Its content may be read and changed by the user. */
class Storage {
 public:
  virtual ~Storage() = default;
  /** Returns what was last written; nothing or an empty text if there is nothing. Throws if it cannot be read. */
  virtual std::optional<std::string> read() = 0;
  virtual void write(const std::string &text) = 0;
  /** Runs a change while no other program changes the content. By default changes of two programs may overwrite each other. */
  virtual void lock(const std::function<void()> &change) { change(); }

 protected:
  Storage() = default;
  Storage(const Storage &) = default;
  Storage &operator=(const Storage &) = default;
};

/** A file that this user of the machine alone can read. `path` is UTF-8. */
std::shared_ptr<Storage> fileStorage(std::string path);

struct UserDataTag {};
/** The option `storage`: a file in the user's data folder, which programs in all languages share. */
inline constexpr UserDataTag userData{};

/** The option `storage`. */
class StorageOption {
 public:
  StorageOption() = default;
  StorageOption(UserDataTag) : isUserData(true) {}
  StorageOption(std::shared_ptr<Storage> theStorage) : storage(std::move(theStorage)) {}
  template <class T, std::enable_if_t<std::is_base_of_v<Storage, T>, int> = 0>
  StorageOption(std::shared_ptr<T> theStorage) : storage(std::move(theStorage)) {}

  bool isUserData = false;
  std::shared_ptr<Storage> storage;
};

/** The option `hwid`: a text, a function that returns one, or `nullptr` to send none. */
class HwidOption {
 public:
  HwidOption() = default;
  HwidOption(std::nullptr_t) : isNone(true) {}
  HwidOption(std::string theText) : text(std::move(theText)) {}
  HwidOption(const char *theText) : text(theText ? theText : "") {}
  template <class F, std::enable_if_t<std::is_invocable_r_v<std::string, F &>, int> = 0>
  HwidOption(F theFunction) : function(std::move(theFunction)) {}

  bool isDefault() const { return !isNone && !text && !function; }

  bool isNone = false;
  std::optional<std::string> text;
  std::function<std::string()> function;
};

/** An event for the option `log`. */
struct LogEvent {
  /**
   * Each attempt is a `request`, and then one of: `response`, a genuine answer; `retry`, an error after which the call is
   * repeated; `failed`, an error that the program gets. `offline`: a lease answered in place of the server.
   */
  std::string event;
  /** The call of the protocol, such as `license` or `init`. */
  std::string call;
  /** From 1; not with `offline`. */
  std::optional<int> attempt = std::nullopt;
  /** The HTTP status, if there was an answer. */
  std::optional<int> status = std::nullopt;
  /** The code of the refusal or of the error. */
  std::optional<std::string> code = std::nullopt;
  /** Names the refusal, for the console. */
  std::optional<std::string> reference = std::nullopt;
  /** How long the attempt took. */
  std::optional<std::int64_t> durationMs = std::nullopt;
  /** The pause before the next attempt. */
  std::optional<std::int64_t> delayMs = std::nullopt;
};

/** How a program reaches and verifies its Keyward server. Texts are UTF-8; lengths count UTF-16 code units. */
struct Options {
  /** The server's public address without `/api`, for example `https://licenses.example.com`. */
  std::string baseUrl;
  /** The app's 8-character identifier. */
  std::string appId;
  /** The app's 32-character secret. */
  std::string secret;
  /**
   * The app's public keys as JSON: a JWK set, an array of keys, or one key. Build them into the program: keys fetched at
   * run time prove nothing.
   */
  std::string publicKeys;
  /** The program's version, compared with the app's version on the server; 1 to 32 characters. */
  std::string version;
  /** The hash of the program's build, for apps that check it; up to 256 characters. */
  std::optional<std::string> hash = std::nullopt;
  /** The language of `message`, as a BCP 47 tag such as `de-AT`; up to 35 characters. */
  std::optional<std::string> locale = std::nullopt;
  /** 1 to 256 characters. Default: a salted hash of the machine's own id. */
  HwidOption hwid = {};
  /**
   * Whether to send the machine's name, its system and salted hashes of its parts, by which the server recognizes a machine
   * that changed. True by default, but false with a `hwid` of your own.
   */
  std::optional<bool> device = std::nullopt;
  /**
   * Lets the program run without the server, and stay signed in: `keyward::userData`, `keyward::fileStorage(path)`, or a
   * `Storage` of your own. Needs a hardware id. Default: none.
   */
  StorageOption storage = {};
  /** Timeout of one call, including retries; 100 to 600000. */
  std::int64_t timeoutMs = 15000;
  /** An HTTP proxy, `http://[user:password@]host:port`. Default: the platform's own settings. */
  std::optional<std::string> proxy = std::nullopt;
  /**
   * Called with an event for every attempt of a call, on the thread of the call. Events never contain a secret, a key, a
   * token, a hardware id or a body. What the function throws is ignored.
   */
  std::function<void(const LogEvent &)> log = {};
};

}  // namespace keyward

// clock.hpp

namespace keyward::detail {

using Clock = std::chrono::steady_clock;

/** The time in seconds since 1970; replaceable for tests. */
using Now = std::function<double()>;

inline double systemNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/** Seconds that no setting of the clock changes. */
inline double systemElapsed() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace keyward::detail

// away.hpp

namespace keyward::detail {

/** Whether the server is away, so that calls need not wait for it, and the thread that asks it meanwhile. */
class Away {
 public:
  explicit Away(Now elapsed) : elapsed_(std::move(elapsed)) {}
  Away(const Away &) = delete;
  Away &operator=(const Away &) = delete;
  ~Away() {
    if (prober_.get_id() == std::this_thread::get_id()) prober_.detach();
    if (prober_.joinable()) prober_.join();
  }

  /** The code of the last network error while the server is away. */
  std::optional<std::string> code() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return elapsed_() < until_ ? std::optional<std::string>(code_) : std::nullopt;
  }

  void note(const NetworkError &error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    code_ = error.code;
    until_ = elapsed_() + awayS;
  }

  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    until_ = 0;
    ends_++;
  }

  /** Asks the server in the background, unless that is done already or was just tried. */
  void probe(std::function<void()> ask) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (isProbing_ || elapsed_() < nextProbeAt_) return;
    // It has ended, but for a few instructions.
    if (prober_.joinable()) prober_.join();
    try {
      prober_ = std::thread([this, ends = ends_.load(), ask = std::move(ask)] { run(ask, ends); });
      isProbing_ = true;
    } catch (const std::system_error &) {
      // Without a thread there is no probe now.
    }
  }

 private:
  static constexpr double awayS = 60;
  static constexpr double betweenProbesS = 5;

  void run(const std::function<void()> &ask, int ends) {
    try {
      ask();
      end();
    } catch (const NetworkError &error) {
      // The server may have answered another call since.
      if (ends == ends_) note(error);
    } catch (...) {
      // The next call learns from the server what is wrong.
      end();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    isProbing_ = false;
    nextProbeAt_ = elapsed_() + betweenProbesS;
  }

  Now elapsed_;
  mutable std::mutex mutex_;
  double until_ = 0;
  std::atomic<int> ends_{0};
  std::string code_;
  double nextProbeAt_ = 0;
  bool isProbing_ = false;
  std::thread prober_;
};

}  // namespace keyward::detail

// encodings.hpp

namespace keyward::detail {

inline std::string toHex(std::string_view bytes) {
  std::string out;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

inline std::optional<std::string> fromHex(std::string_view text) {
  const auto digit = [](char c) { return isDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = digit(text[at]);
    const int low = digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
  }
  return out;
}

inline constexpr const char *base64Symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string toBase64(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; i++)
      group = (group << 8) | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; i++)
      out += at + i < bytes.size() + 1 ? base64Symbols[(group >> (18 - 6 * i)) & 63] : '=';
  }
  return out;
}

inline std::string toBase64Url(std::string_view bytes) {
  std::string out = toBase64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

/** Decodes canonical base64 only, so that each value has one spelling. */
inline std::optional<std::string> fromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  std::uint32_t group = 0;
  for (std::size_t at = 0; at < text.size(); at++) {
    const char *found = text[at] == '=' || text[at] == 0 ? nullptr : std::strchr(base64Symbols, text[at]);
    if (!found && !(text[at] == '=' && at + 2 >= text.size())) return std::nullopt;
    group = (group << 6) | (found ? static_cast<std::uint32_t>(found - base64Symbols) : 0u);
    if (at % 4 != 3) continue;
    for (const unsigned shift : {16u, 8u, 0u}) out += static_cast<char>(static_cast<unsigned char>(group >> shift));
    group = 0;
  }
  for (std::size_t back = 0; back < 2 && back < text.size() && text[text.size() - 1 - back] == '='; back++)
    out.pop_back();
  return toBase64(out) == text ? std::optional<std::string>(out) : std::nullopt;
}

/** Decodes canonical base64url without padding. */
inline std::optional<std::string> fromBase64Url(std::string_view text) {
  std::string padded(text);
  for (char &c : padded) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  }
  while (padded.size() % 4 != 0) padded += '=';
  return fromBase64(padded);
}

inline const unsigned char *toBytes(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

inline unsigned char *toBytes(std::string &text) { return reinterpret_cast<unsigned char *>(text.data()); }

}  // namespace keyward::detail

// option_errors.hpp

namespace keyward::detail {

inline UsageError wrongOption(const std::string &message) { return UsageError("invalid_options", message); }

inline void checkText(const char *name, const std::string &value, std::size_t max) {
  if (value.empty() || utf16Length(value) > max)
    throw wrongOption(std::string(name) + " must be a text of 1 to " + std::to_string(max) + " characters");
  if (!isValidUtf8(value)) throw wrongOption(std::string(name) + " must be UTF-8");
}

}  // namespace keyward::detail

// structured_fields.hpp

namespace keyward::detail {

/** A bare item of RFC 9651, with its type so that a token is never mistaken for a string. */
struct BareItem {
  enum class Type { string, token, integer, decimal, date, boolean, bytes };
  Type type = Type::boolean;
  std::string text;
  std::int64_t number = 0;
  bool flag = true;
};

using Parameters = std::vector<std::pair<std::string, BareItem>>;

struct Item {
  BareItem value;
  Parameters params;
};

/** A member of a dictionary: an item, or a list of items. */
struct Entry {
  bool isList = false;
  Item item;
  std::vector<Item> items;
  Parameters params;
};

using Dictionary = std::vector<std::pair<std::string, Entry>>;

template <class Value>
const Value *findIn(const std::vector<std::pair<std::string, Value>> &list, std::string_view name) {
  for (const auto &one : list)
    if (one.first == name) return &one.second;
  return nullptr;
}

/** The text is not a dictionary by the rules of this parser. */
class StructuredFieldError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/**
 * Parses a dictionary of RFC 9651 more strictly than the RFC: repeated keys are errors, and byte sequences must be canonical
 * base64, so that each value has one spelling.
 */
class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {
    if (text.size() > 16384) throw StructuredFieldError("The field is too long");
  }

  Dictionary parse() {
    Dictionary members;
    std::set<std::string> names;
    skip(" ");
    while (at_ < text_.size()) {
      std::string name = key("a key");
      if (!names.insert(name).second) fail("Key " + name + " is repeated");
      Entry value = member();
      members.emplace_back(std::move(name), std::move(value));
      skip(" \t");
      if (at_ == text_.size()) break;
      if (!take(',')) fail("Expected a comma");
      skip(" \t");
      if (at_ == text_.size()) fail("Unexpected end after a comma");
    }
    return members;
  }

 private:
  [[noreturn]] void fail(const std::string &what) const {
    throw StructuredFieldError(what + " at " + std::to_string(at_));
  }
  char peek(std::size_t more = 0) const { return at_ + more < text_.size() ? text_[at_ + more] : '\0'; }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  void skip(std::string_view characters) {
    while (at_ < text_.size() && characters.find(text_[at_]) != std::string_view::npos) at_++;
  }
  static bool isOneOf(char c, std::string_view list) { return c != '\0' && list.find(c) != std::string_view::npos; }

  std::string key(const char *what) {
    const auto isFirst = [](char c) { return (c >= 'a' && c <= 'z') || c == '*'; };
    if (!isFirst(peek())) fail(std::string("Expected ") + what);
    const std::size_t start = at_;
    while (isFirst(peek()) || isDigit(peek()) || isOneOf(peek(), "_.-")) at_++;
    return std::string(text_.substr(start, at_ - start));
  }

  BareItem bareItem() {
    const char first = peek();
    if (first == '"') return stringItem();
    if (first == ':') return bytesItem();
    if (first == '?') {
      BareItem item;
      if (peek(1) != '0' && peek(1) != '1') fail("Expected a boolean");
      item.flag = peek(1) == '1';
      at_ += 2;
      return item;
    }
    if (first == '@') {
      at_++;
      BareItem item = numberItem("a date");
      if (item.type != BareItem::Type::integer) fail("Expected a date");
      item.type = BareItem::Type::date;
      return item;
    }
    if (first == '-' || isDigit(first)) return numberItem("a number");
    return tokenItem();
  }

  BareItem stringItem() {
    BareItem item;
    item.type = BareItem::Type::string;
    at_++;
    for (;;) {
      const char c = peek();
      at_++;
      if (c == '"') return item;
      if (c == '\\') {
        if (peek() != '"' && peek() != '\\') fail("Expected a string");
        item.text += peek();
        at_++;
      } else if (c >= 0x20 && c <= 0x7e) {
        item.text += c;
      } else {
        fail("Expected a string");
      }
    }
  }

  BareItem bytesItem() {
    const std::size_t end = text_.find(':', at_ + 1);
    if (end == std::string_view::npos) fail("Expected a byte sequence");
    const std::optional<std::string> bytes = fromBase64(text_.substr(at_ + 1, end - at_ - 1));
    if (!bytes) fail("Not canonical base64");
    at_ = end + 1;
    BareItem item;
    item.type = BareItem::Type::bytes;
    item.text = *bytes;
    return item;
  }

  std::size_t digits() {
    const std::size_t start = at_;
    while (isDigit(peek())) at_++;
    return at_ - start;
  }

  BareItem numberItem(const char *what) {
    const auto failed = [&] { fail(std::string("Expected ") + what); };
    BareItem item;
    const bool isNegative = take('-');
    const std::size_t start = at_;
    const std::size_t whole = digits();
    const std::string_view text = text_.substr(start, whole);
    if (peek() == '.') {
      at_++;
      const std::size_t fraction = digits();
      if (whole < 1 || whole > 12 || fraction < 1 || fraction > 3 || peek() == '.') failed();
      item.type = BareItem::Type::decimal;
    } else {
      if (whole < 1 || whole > 15) failed();
      item.type = BareItem::Type::integer;
    }
    for (const char c : text) item.number = item.number * 10 + (c - '0');
    if (isNegative) item.number = -item.number;
    return item;
  }

  BareItem tokenItem() {
    const std::size_t start = at_;
    if (!isAlnum(peek()) && peek() != '*') fail("Expected an item");
    while (isAlnum(peek()) || isOneOf(peek(), "!#$%&'*+.^_`|~:/-")) at_++;
    BareItem item;
    item.type = BareItem::Type::token;
    item.text = std::string(text_.substr(start, at_ - start));
    return item;
  }

  Parameters parameters() {
    Parameters params;
    std::set<std::string> names;
    while (take(';')) {
      skip(" ");
      std::string name = key("a parameter");
      if (!names.insert(name).second) fail("Parameter " + name + " is repeated");
      BareItem value = take('=') ? bareItem() : BareItem();
      params.emplace_back(std::move(name), std::move(value));
    }
    return params;
  }

  Item item() {
    Item one;
    one.value = bareItem();
    one.params = parameters();
    return one;
  }

  Entry member() {
    Entry entry;
    if (!take('=')) {
      entry.item.params = parameters();
      return entry;
    }
    if (!take('(')) {
      entry.item = item();
      return entry;
    }
    entry.isList = true;
    for (;;) {
      skip(" ");
      if (take(')')) break;
      entry.items.push_back(item());
      if (peek() != ' ' && peek() != ')') fail("Expected a space or the end of the list");
    }
    entry.params = parameters();
    return entry;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/** Serializes a string item; the text must be printable ASCII, as every parsed string is. */
inline std::string serializeString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace keyward::detail

// key_ring.hpp

namespace keyward::detail {

/** The public keys of 32 bytes by their `kid`, in the order of the option. */
using KeyRing = std::vector<std::pair<std::string, std::string>>;

/**
 * Reads the Ed25519 signing keys of a JWK set and ignores keys of other kinds, as RFC 7517 requires. Throws `UsageError` if
 * no key is left, or one is malformed or private.
 */
inline KeyRing toKeyRing(const Json &publicKeys) {
  const auto wrong = [](const std::string &message) { return wrongOption("publicKeys: " + message); };
  if (!publicKeys.isObject() && !publicKeys.isArray()) throw wrong("expected a JWK set");
  const Json *listed = publicKeys.isObject() ? publicKeys.find("keys") : &publicKeys;
  const Json one = Json::array({publicKeys});
  const Json &list = listed ? *listed : one;
  if (!list.isArray()) throw wrong("expected an array of keys");
  KeyRing ring;
  for (const Json &jwk : list.items()) {
    if (!jwk.isObject()) throw wrong("a key is not an object");
    if (jwk.find("d")) throw wrong("a private key must never be part of a program");
    const bool isSigning = jwk["use"].isNull() || jwk["use"].string() == "sig";
    if (jwk["kty"].string() != "OKP" || jwk["crv"].string() != "Ed25519" || !isSigning) continue;
    if (jwk["status"].string() == "revoked") continue;
    const std::string &kid = jwk["kid"].string();
    const bool isGood = !kid.empty() && kid.size() <= 256 &&
                        std::all_of(kid.begin(), kid.end(), [](char c) { return c >= 0x20 && c <= 0x7e && c != ','; });
    if (!isGood) throw wrong("a key has no kid");
    if (findIn(ring, kid)) throw wrong("kid " + kid + " is there twice");
    const std::optional<std::string> x = jwk["x"].isString() ? fromBase64Url(jwk["x"].string()) : std::nullopt;
    if (!x || x->size() != 32) throw wrong("the key " + kid + " is broken");
    ring.emplace_back(kid, *x);
  }
  if (ring.empty()) throw wrong("expected at least one Ed25519 key");
  return ring;
}

}  // namespace keyward::detail

// ed25519_field.hpp

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

// ed25519_curve.hpp

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

// sodium.hpp

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

// sha2.hpp

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

  std::string of(std::string_view message) {
    std::size_t at = 0;
    for (; at + blockBytes <= message.size(); at += blockBytes) add(toBytes(message) + at);
    std::string rest(message.substr(at));
    // One bit, zeros, and the length in bits. No message is so long that the length needs more than eight bytes.
    rest += '\x80';
    rest.append(2 * sizeof(Word) - 8, '\0');
    while ((rest.size() + 8) % blockBytes != 0) rest += '\0';
    for (unsigned shift = 64; shift > 0;) {
      shift -= 8;
      rest += static_cast<char>(static_cast<unsigned char>((static_cast<std::uint64_t>(message.size()) << 3) >> shift));
    }
    for (at = 0; at < rest.size(); at += blockBytes) add(toBytes(rest) + at);
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

  void add(const unsigned char *block) {
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
};

}  // namespace sha2

inline std::string sha256(std::string_view bytes) { return sha2::Hash<std::uint32_t>().of(bytes); }
inline std::string sha512(std::string_view bytes) { return sha2::Hash<std::uint64_t>().of(bytes); }

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

// ed25519.hpp

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

// cryptography.hpp

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

// system.hpp

namespace keyward::detail {

/** A source of the hardware id that could not be read. */
class SourceError : public std::runtime_error {
 public:
  explicit SourceError(const std::string &message, bool absent = false)
      : std::runtime_error(message), isAbsent(absent) {}

  /** The machine does not have the source, or this user may never read it. */
  bool isAbsent;
};

/** The properties of a machine that the hardware id is derived from. */
struct Machine {
  /** `linux`, `darwin`, `win32` or another name. */
  std::string platform;
  std::string hostname;
  /** Name and version of the operating system. */
  std::string system;
  /** MAC addresses of the network cards, as `aa:bb:cc:dd:ee:ff`. */
  std::vector<std::string> macs;
  std::function<std::string(const std::string &path)> read;
  /** The `machine`, `board` or `disk` of macOS and Windows. */
  std::function<std::string(const std::string &name)> property;
};

inline std::string toMac(const unsigned char *bytes) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4],
                bytes[5]);
  return text;
}

inline constexpr std::size_t maxFileBytes = 4 * 1024 * 1024;

enum class LockAttempt { created, exists, impossible };

}  // namespace keyward::detail

// text_windows.hpp

#ifdef _WIN32

namespace keyward::detail {

inline std::wstring toWide(std::string_view text) {
  if (text.empty()) return {};
  const int length = static_cast<int>(text.size());
  const int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0);
  std::wstring out(static_cast<std::size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), length, out.data(), size);
  return out;
}

inline std::string fromWide(std::wstring_view text) {
  if (text.empty()) return {};
  const int length = static_cast<int>(text.size());
  const int size = WideCharToMultiByte(CP_UTF8, 0, text.data(), length, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<std::size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text.data(), length, out.data(), size, nullptr, nullptr);
  return out;
}

}  // namespace keyward::detail

#endif

// files_windows.hpp

#ifdef _WIN32

namespace keyward::detail {

inline std::string readWholeFile(const std::string &path) {
  const HANDLE file = CreateFileW(toWide(path).c_str(), GENERIC_READ,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                  FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    const DWORD error = GetLastError();
    const bool isAbsent = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
    throw SourceError(path + " cannot be opened", isAbsent);
  }
  std::string text;
  std::array<char, 16384> buffer{};
  DWORD count = 0;
  BOOL good = TRUE;
  while ((good = ReadFile(file, buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr)) != FALSE &&
         count > 0 && text.size() <= maxFileBytes)
    text.append(buffer.data(), count);
  CloseHandle(file);
  if (!good || text.size() > maxFileBytes) throw SourceError(path + " cannot be read");
  return text;
}

inline std::optional<std::string> environment(const char *name) {
  const std::wstring wide = toWide(name);
  std::wstring value(32768, L'\0');
  const DWORD size = GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
  if (size == 0 || size >= value.size()) return std::nullopt;
  value.resize(size);
  return fromWide(value);
}

/** Replaces the file as a whole. */
inline void replaceFile(const std::string &path, const std::string &draft, const std::string &text) {
  const HANDLE file =
      CreateFileW(toWide(draft).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) throw std::runtime_error(draft + " cannot be created");
  DWORD written = 0;
  bool good = WriteFile(file, text.data(), static_cast<DWORD>(text.size()), &written, nullptr) != FALSE;
  good = good && written == text.size() && FlushFileBuffers(file) != FALSE;
  good = CloseHandle(file) != FALSE && good;
  // A virus scanner or another program may hold the file for a moment.
  for (int attempt = 0; good && attempt < 5; attempt++) {
    if (MoveFileExW(toWide(draft).c_str(), toWide(path).c_str(), MOVEFILE_REPLACE_EXISTING)) return;
    Sleep(20);
  }
  DeleteFileW(toWide(draft).c_str());
  throw std::runtime_error(path + " cannot be written");
}

inline bool removeFile(const std::string &path) { return DeleteFileW(toWide(path).c_str()) != FALSE; }

inline LockAttempt createLock(const std::string &path, const std::string &) {
  const HANDLE file = CreateFileW(toWide(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file != INVALID_HANDLE_VALUE) {
    CloseHandle(file);
    return LockAttempt::created;
  }
  // A file that is being deleted may not be opened.
  const DWORD error = GetLastError();
  const bool isBusy = error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS || error == ERROR_ACCESS_DENIED;
  return isBusy ? LockAttempt::exists : LockAttempt::impossible;
}

/** How long ago the lock was created, in seconds. */
inline std::optional<double> lockAge(const std::string &path) {
  WIN32_FILE_ATTRIBUTE_DATA facts{};
  if (!GetFileAttributesExW(toWide(path).c_str(), GetFileExInfoStandard, &facts)) return std::nullopt;
  FILETIME now{};
  GetSystemTimeAsFileTime(&now);
  const auto ticks = [](const FILETIME &time) {
    return static_cast<double>((static_cast<std::uint64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime);
  };
  return (ticks(now) - ticks(facts.ftLastWriteTime)) / 1e7;
}

/** Whether a lock is that of a program that was ended: unknown on this system. */
inline std::optional<std::string> describeProgram(long) { return std::nullopt; }
inline bool isRunning(long) { return true; }
inline long ownNumber() { return 0; }

inline constexpr const char *slashes = "\\/";
inline void makeFolder(const std::string &path) { CreateDirectoryW(toWide(path).c_str(), nullptr); }

/** The folder for data of programs that the user does not edit. */
inline std::string dataFolder() {
  if (const auto local = environment("LOCALAPPDATA")) return *local;
  return environment("USERPROFILE").value_or("C:") + "\\AppData\\Local";
}

}  // namespace keyward::detail

#endif

// files_posix.hpp

#ifndef _WIN32

namespace keyward::detail {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

inline ssize_t readSome(int descriptor, char *buffer, std::size_t size) {
  ssize_t count = -1;
  do count = ::read(descriptor, buffer, size);
  while (count < 0 && errno == EINTR);
  return count;
}

inline bool isAbsentError(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM;
}

/** Reads regular files alone: a pipe or a device in its place could block the program. */
inline std::string readWholeFile(const std::string &path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int error = errno;
    throw SourceError(path + " cannot be opened", isAbsentError(error));
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) throw SourceError(path + " is no file");
  std::string text;
  std::array<char, 16384> buffer;
  ssize_t count = 0;
  while ((count = readSome(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > maxFileBytes) throw SourceError(path + " is too large");
  }
  if (count < 0) {
    const int error = errno;
    throw SourceError(path + " cannot be read", isAbsentError(error));
  }
  return text;
}

inline std::optional<std::string> environment(const char *name) {
  const char *value = std::getenv(name);
  return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

/** Replaces the file as a whole. Only this user can read it. */
inline void replaceFile(const std::string &path, const std::string &draft, const std::string &text) {
  Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) throw std::runtime_error(draft + " cannot be created");
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::write(file.get(), text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    at += static_cast<std::size_t>(count);
  }
  bool good = at == text.size() && ::fsync(file.get()) == 0;
  good = file.close() && good;
  if (good && ::rename(draft.c_str(), path.c_str()) == 0) return;
  ::unlink(draft.c_str());
  throw std::runtime_error(path + " cannot be written");
}

inline std::optional<std::string> linkTarget(const char *path) {
  std::array<char, 256> buffer;
  const ssize_t size = ::readlink(path, buffer.data(), buffer.size());
  if (size <= 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

inline bool removeFile(const std::string &path) { return ::unlink(path.c_str()) == 0; }

inline LockAttempt createWith(const std::string &path, const std::string &text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return errno == EEXIST ? LockAttempt::exists : LockAttempt::impossible;
  ssize_t count = -1;
  do count = ::write(file.get(), text.data(), text.size());
  while (count < 0 && errno == EINTR);
  return LockAttempt::created;
}

/** Creates the file together with its text where that is possible; a lock without its text becomes stale by its age. */
inline LockAttempt createLock(const std::string &path, const std::string &text) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0) return LockAttempt::exists;
  if (text.empty()) return createWith(path, text);
  // Written after it was created, the lock of a program that is killed in between would name no holder.
  const std::string draft = path + "." + toHex(randomBytes(16));
  if (createWith(draft, text) != LockAttempt::created) return createWith(path, text);
  const int failed = ::link(draft.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(draft.c_str());
  if (failed == 0) return LockAttempt::created;
  return failed == EEXIST ? LockAttempt::exists : createWith(path, text);
}

/** Number and start of a program, and where they are its own; nothing on systems other than Linux. */
inline std::optional<std::string> describeProgram(long pid) {
#ifdef __linux__
  const std::optional<std::string> pids = linkTarget("/proc/self/ns/pid");
  if (!pids) return std::nullopt;
  try {
    const std::string boot = trim(readWholeFile("/proc/sys/kernel/random/boot_id"));
    const std::string status = readWholeFile("/proc/" + std::to_string(pid) + "/stat");
    // The second field is the name in parentheses, which may contain spaces.
    std::istringstream fields(status.substr(status.rfind(')') + 1));
    std::string start;
    for (int at = 0; at < 20; at++) fields >> start;
    if (!fields || !std::all_of(start.begin(), start.end(), isDigit)) return std::nullopt;
    return std::to_string(pid) + " " + start + " " + boot + "/" + *pids + "/" +
           linkTarget("/proc/self/ns/time").value_or("-") + "\n";
  } catch (const SourceError &) {
    return std::nullopt;
  }
#else
  static_cast<void>(pid);
  return std::nullopt;
#endif
}

inline bool isRunning(long pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }
inline long ownNumber() { return static_cast<long>(::getpid()); }

/** How long ago the lock was created, in seconds. */
inline std::optional<double> lockAge(const std::string &path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return std::nullopt;
  return systemNow() - static_cast<double>(facts.st_mtime);
}

inline constexpr const char *slashes = "/";
inline void makeFolder(const std::string &path) { ::mkdir(path.c_str(), 0700); }

inline std::string homeFolder() {
  if (const auto home = environment("HOME")) return *home;
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd *found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found) return found->pw_dir;
  return "/";
}

/** The folder for data of programs that the user does not edit. */
inline std::string dataFolder() {
#ifdef __APPLE__
  return homeFolder() + "/Library/Application Support";
#else
  if (const auto state = environment("XDG_STATE_HOME")) return *state;
  return homeFolder() + "/.local/state";
#endif
}

}  // namespace keyward::detail

#endif

// seen_time.hpp

namespace keyward::detail {

/** A run of the system, and how long it lasts already, in seconds. */
struct Boot {
  std::string id;
  double uptime = 0;
};

/** Nothing on systems other than Linux, and where it cannot be read. */
inline std::optional<Boot> thisBoot() {
#ifdef __linux__
  try {
    static const std::string &id = *new std::string(trim(readWholeFile("/proc/sys/kernel/random/boot_id")) + "/" +
                                                    linkTarget("/proc/self/ns/time").value_or("-"));
    return Boot{id, std::strtod(readWholeFile("/proc/uptime").c_str(), nullptr)};
  } catch (const SourceError &) {
  }
#endif
  return std::nullopt;
}

/** The clock of the machine, and how far it must have come: a clock that stands still or goes back gains no time. */
class SeenTime {
 public:
  SeenTime(Now now, Now elapsed) : now_(std::move(now)), elapsed_(std::move(elapsed)) {}

  double now() const { return now_(); }

  /** Where the clock must be at least, by what is stored and by this run of the program. */
  double floor(const Json &kept) const {
    const Json &stored = kept["boot"];
    const std::optional<Boot> boot = stored.isObject() ? thisBoot() : std::nullopt;
    const bool isSame = boot && boot->id == stored["id"].string();
    return (std::max)({kept["latest"].number(), inRun(), isSame ? stored["startedAt"].number() + boot->uptime : 0});
  }

  /** Notes that the clock was believed at `now`. Returns whether what is kept changed. */
  bool note(Json &kept, double now) {
    const double latest = std::floor((std::max)(now, inRun()));
    if (now >= inRun()) anchor_ = Anchor{now, elapsed_()};
    const bool isLater = latest > kept["latest"].number();
    if (isLater) kept.set("latest", latest);
    return noteBoot(kept, now) || isLater;
  }

  bool noteBoot(Json &kept, double now) const {
    const std::optional<Boot> boot = thisBoot();
    if (!boot) return false;
    const Json &stored = kept["boot"];
    const double startedAt = std::floor(now - boot->uptime);
    if (stored["id"].string() == boot->id && stored["startedAt"].number() >= startedAt) return false;
    kept.set("boot", Json::object().set("id", boot->id).set("startedAt", startedAt));
    return true;
  }

  /** Believes nothing of what this run has seen. */
  void forget() { anchor_.reset(); }

 private:
  struct Anchor {
    double wall;
    double elapsed;
  };

  double inRun() const { return anchor_ ? anchor_->wall + elapsed_() - anchor_->elapsed : 0; }

  Now now_;
  Now elapsed_;
  std::optional<Anchor> anchor_;
};

}  // namespace keyward::detail

// dates.hpp

namespace keyward::detail {

/** Seconds since 1970 of a date in the proleptic Gregorian calendar. */
inline std::int64_t toSeconds(std::int64_t year, int month, int day, int hour, int minute, int second) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t ofEra = year - era * 400;
  const std::int64_t ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t days = era * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719468;
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

/** ISO 8601 in UTC with milliseconds; `seconds` must be before the year 10000. */
inline std::string toIso(double seconds) {
  const auto ms = static_cast<std::int64_t>(seconds * 1000);
  const std::int64_t days = (ms >= 0 ? ms : ms - 86399999) / 86400000;
  const std::int64_t ofDay = ms - days * 86400000;
  const std::int64_t z = days + 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const std::int64_t ofEra = z - era * 146097;
  const std::int64_t yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146096) / 365;
  const std::int64_t ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const std::int64_t part = (5 * ofYear + 2) / 153;
  const std::int64_t month = part < 10 ? part + 3 : part - 9;
  const std::int64_t year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", static_cast<int>(year),
                static_cast<int>(month), static_cast<int>(ofYear - (153 * part + 2) / 5 + 1),
                static_cast<int>(ofDay / 3600000), static_cast<int>(ofDay / 60000 % 60),
                static_cast<int>(ofDay / 1000 % 60), static_cast<int>(ofDay % 1000));
  return text;
}

/** Seconds since 1970 of a date in one of the three forms of HTTP. */
inline std::optional<std::int64_t> parseHttpDate(const std::string &text) {
  static constexpr const char *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (isAlnum(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  // Sun Nov 6 08:49:37 1994 has another order than Sun, 06 Nov 1994 08:49:37 GMT and Sunday, 06-Nov-94 08:49:37 GMT.
  if (words.size() < 7) return std::nullopt;
  const bool isAsctime = words.size() == 7 && !isDigit(words[1][0]);
  if (isAsctime) words = {words[0], words[2], words[1], words[6], words[3], words[4], words[5]};
  const auto month = std::find(std::begin(months), std::end(months), words[2]);
  if (month == std::end(months)) return std::nullopt;
  int numbers[5];
  const std::size_t places[5] = {1, 3, 4, 5, 6};
  for (std::size_t i = 0; i < 5; i++) {
    const std::string &digits = words[places[i]];
    if (digits.size() > 4 || !std::all_of(digits.begin(), digits.end(), isDigit)) return std::nullopt;
    numbers[i] = std::atoi(digits.c_str());
  }
  const auto [day, year, hour, minute, second] =
      std::make_tuple(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
  if (day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return std::nullopt;
  const int fullYear = words[3].size() > 2 ? year : year < 50 ? 2000 + year : 1900 + year;
  return toSeconds(fullYear, static_cast<int>(month - std::begin(months)) + 1, day, hour, minute, second);
}

/** Seconds since 1970 of an ISO 8601 time in UTC. */
inline std::optional<double> parseIso(const std::string &text) {
  static constexpr std::string_view form = "0000-00-00T00:00:00";
  if (text.size() <= form.size() || text.back() != 'Z') return std::nullopt;
  for (std::size_t i = 0; i < form.size(); i++)
    if (form[i] == '0' ? !isDigit(text[i]) : text[i] != form[i]) return std::nullopt;
  double fraction = 0;
  if (text.size() > form.size() + 1) {
    double place = 0.1;
    for (std::size_t i = form.size(); i < text.size() - 1; i++, place /= 10) {
      if (i == form.size() ? text[i] != '.' : !isDigit(text[i])) return std::nullopt;
      if (i == form.size())
        place = 1;
      else
        fraction += place * (text[i] - '0');
    }
  }
  const auto number = [&](std::size_t at, std::size_t length) { return std::atoi(text.substr(at, length).c_str()); };
  const int month = number(5, 2);
  const int day = number(8, 2);
  if (month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  return static_cast<double>(toSeconds(number(0, 4), month, day, number(11, 2), number(14, 2), number(17, 2))) + fraction;
}

}  // namespace keyward::detail

// statements.hpp

namespace keyward::detail {

/** A statement of the server must be about this app and this device, and signed with one of these keys. */
struct Subject {
  std::string appId;
  std::string hwid;
  KeyRing keys;
};

/**
 * Verifies a compact JWS of the server: of this type, signed by a pinned key, for this app and this device. Returns its
 * claims, or nothing. Does not look at the clock.
 */
inline std::optional<Json> readStatement(std::string_view text, const char *type, const Subject &subject) {
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::optional<std::string> header = fromBase64Url(text.substr(0, first));
  const std::optional<std::string> claims = fromBase64Url(text.substr(first + 1, second - first - 1));
  const std::optional<std::string> signature = fromBase64Url(text.substr(second + 1));
  if (!header || !claims || !signature || signature->size() != 64) return std::nullopt;
  const Json head = Json::parse(*header).value_or(Json());
  if (head["alg"].string() != "EdDSA" || head["typ"].string() != type || !head["kid"].isString()) return std::nullopt;
  const std::string *key = findIn(subject.keys, head["kid"].string());
  if (!key || !verifyEd25519(*key, text.substr(0, second), *signature)) return std::nullopt;
  std::optional<Json> found = Json::parse(*claims);
  const bool isOurs = found && (*found)["iss"].string() == "keyward" && (*found)["aud"].string() == subject.appId &&
                      (*found)["hwid"].string() == toHex(sha256(subject.hwid));
  return isOurs ? found : std::nullopt;
}

/** A whole number that a date can show as seconds: up to the year 9999. */
inline bool isTime(const Json &value) {
  return value.isNumber() && value.number() >= 0 && value.number() < 253402300800.0 &&
         !(std::floor(value.number()) < value.number());
}

/** The claims of a lease; nothing unless all that decide are there. */
inline std::optional<Json> readLease(std::string_view text, const Subject &subject) {
  std::optional<Json> lease = readStatement(text, "keyward-lease+jws", subject);
  if (!lease) return std::nullopt;
  for (const char *name : {"iat", "exp", "refreshAfter", "graceUntil", "seq"})
    if (!isTime((*lease)[name])) return std::nullopt;
  return (*lease)["sub"].isString() && (*lease)["features"].isArray() ? lease : std::nullopt;
}

/** The claims of an activation; a missing end must not pass for none. */
inline std::optional<Json> readActivation(std::string_view text, const Subject &subject) {
  std::optional<Json> found = readStatement(text, "keyward-activation+jws", subject);
  if (!found) return std::nullopt;
  for (const char *name : {"sub", "nonce", "username", "term", "deactivation"})
    if (!(*found)[name].isString()) return std::nullopt;
  const Json *exp = found->find("exp");
  const Json *expiresAt = found->find("expiresAt");
  const bool hasEnds = exp && (exp->isNull() || isTime(*exp)) && expiresAt &&
                       (expiresAt->isNull() || parseIso(expiresAt->string()).has_value());
  const bool isGood = hasEnds && isTime((*found)["iat"]) && isTime((*found)["seq"]) && (*found)["features"].isArray();
  return isGood ? found : std::nullopt;
}

}  // namespace keyward::detail

// offline.hpp

namespace keyward::detail {

/** What a lease or an activation says in place of the server. */
struct OfflineAnswer {
  Json user;
  Json offline;
};

/** An answer, or why there is none. */
struct OfflineOutcome {
  std::optional<OfflineAnswer> answer = std::nullopt;
  std::string problem = "";
};

/** Whether no sign-out has begun since a call. */
using IsCurrent = std::function<bool()>;

/** Keeps the latest lease and the activation of a device, and answers with them while the server is not reached. */
class Offline {
 public:
  Offline(std::shared_ptr<Storage> storage, std::string appId, KeyRing keys, Now now, Now elapsed = systemElapsed)
      : storage_(std::move(storage)),
        appId_(std::move(appId)),
        keys_(std::move(keys)),
        time_(std::move(now), std::move(elapsed)) {}

  /** Whether a new lease is due for this user. */
  bool isDue(const std::string &hwid, const std::string &userId);

  /** Stores a lease that the server has just issued; ignores one that is not valid, or older than the stored one. */
  void keep(const std::string &text, const std::string &hwid, const Json &user,
            const std::optional<std::string> &licenseKey, const IsCurrent &isCurrent);

  /**
   * Corrects the latest time after a clock that was far ahead. `serverTime` is when the server signed the answer to a request
   * of just now; an attacker can neither choose nor repeat it.
   */
  void correctTime(double serverTime, const std::optional<std::string> &hwid);

  /** Forgets the lease and the activation after a refusal. */
  void forgetLease(const IsCurrent &isCurrent);

  /** Forgets everything but the time and the activation, after a sign-out. */
  void forget();

  /** Forgets a token that the server has refused, unless another program on this machine has stored a newer one. */
  void dropDeviceToken(const std::string &refused);

  std::optional<std::string> deviceToken();

  void keepDeviceToken(const std::string &deviceToken, const IsCurrent &isCurrent);

  /** Whether `answer` would answer now. */
  bool wouldAnswer(const std::string &hwid, const std::optional<std::string> &licenseKey);

  /** Answers from the lease or the activation. `licenseKey` must be the key that signed in, if it is given. */
  OfflineOutcome answer(const std::string &hwid, const std::optional<std::string> &licenseKey);

  /** Answers from the activation alone. */
  OfflineOutcome answerFromActivation(const std::string &hwid);

  /** The nonce of the request that waits for a file, 16 hex digits; a new one unless this key has one. */
  std::string requestNonce(const std::string &licenseKey);

  /** Accepts a file that answers the pending request. */
  OfflineOutcome activate(const std::string &file, const std::string &hwid);

  /** Forgets the activation and the pending request; returns the code, or nothing without an activation. */
  std::optional<std::string> deactivate(const std::string &hwid);

 private:
  /** What outlives the program: an object with the members that are described in the README. */
  struct Kept {
    Json all;
    /** Nothing may be written, or what is there would be lost. */
    bool isUnreadable = false;
  };

  static constexpr double clockToleranceS = 300;
  /** For a file, and for a lease of days: the clock may be set to the farthest time zone. */
  static constexpr double timeZoneToleranceS = 14 * 3600;
  static constexpr double daysLongS = 72 * 3600;
  static constexpr std::size_t longestFile = 1000000;

  Subject subject(const std::string &hwid) const { return {appId_, hwid, keys_}; }

  /** One change after the other, so that none is lost, also those of other programs. */
  template <class Change>
  void alone(Change change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool hasRun = false;
    const auto run = [&] {
      hasRun = true;
      Kept kept = load();
      change(kept);
    };
    try {
      storage_->lock(run);
    } catch (...) {
      if (hasRun) throw;
    }
    if (!hasRun) run();
  }

  OfflineOutcome accept(Kept &kept, const Json &activation, const std::string &line);

  static void clearLease(Kept &kept) { kept.all.set("lease", "").set("user", Json()).set("key", Json()); }

  static bool isRequest(const Json &value);

  Kept load();

  static void normalizeActivation(Json &all);

  /** Throws `UsageError` unless the change is stored. */
  void store(const Kept &kept);

  void write(const Kept &kept);

  /** A statement that helps now, or why none does. */
  struct Found {
    OfflineOutcome outcome;
    /** The time by which it was judged; nothing for a statement without an end, which no clock concerns. */
    std::optional<double> now = std::nullopt;
    std::optional<Json> lease = std::nullopt;
  };

  static Found notFound(std::string problem) { return {{std::nullopt, std::move(problem)}}; }

  /** Why a statement that ends at `end` does not help now; else `now` becomes the time. */
  std::optional<std::string> judgeTime(const Kept &kept, const Json &statement, double end, double tolerance,
                                       double &now) const;

  Found find(const Kept &kept, const std::string &hwid, const std::optional<std::string> &licenseKey) const;

  Found findLeased(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const;

  Found findActivated(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const;

  /** Notes the time at which a statement was used, from which the clock cannot go back. */
  OfflineOutcome use(Kept &kept, const Found &found);

  /** Whether this program has seen a newer lease: an older one was copied back. */
  bool isOlder(const Json &lease) const;

  void see(const Json &lease) { seen_[lease["sub"].string()] = lease["seq"].number(); }

  static Json onlyTexts(const Json &value);

  std::optional<Json> keptActivation(const Kept &kept, const std::string &hwid) const;

  /** Each line of a file is the same statement under another key. */
  std::optional<Json> findActivation(const std::string &file, const std::string &hwid, std::string &line) const;

  static OfflineAnswer toActivated(const Json &activation, double now);

  std::shared_ptr<Storage> storage_;
  std::string appId_;
  KeyRing keys_;
  SeenTime time_;
  /** The highest number of a lease that this program has seen, by user. */
  std::map<std::string, double> seen_;
  std::mutex mutex_;
};

}  // namespace keyward::detail

// address.hpp

namespace keyward::detail {

/** The address of the server, as the option `baseUrl` names it. */
struct Address {
  /** Scheme, host and port. */
  std::string origin;
  /** Path without a slash at its end. */
  std::string prefix;
};

inline bool isHostCharacter(char c) { return isAlnum(c) || c == '-' || c == '.' || c == '_'; }

/** Splits `host`, `host:port`, `[address]` or `[address]:port`; nothing if it is none of them. */
inline std::optional<std::pair<std::string, std::optional<int>>> splitAuthority(const std::string &text) {
  std::size_t end = 0;
  if (!text.empty() && text[0] == '[') {
    end = text.find(']');
    if (end == std::string::npos || end < 3) return std::nullopt;
    for (std::size_t i = 1; i < end; i++)
      if (!std::isxdigit(static_cast<unsigned char>(text[i])) && text[i] != ':' && text[i] != '.') return std::nullopt;
    end++;
  } else {
    while (end < text.size() && isHostCharacter(text[end])) end++;
    if (end == 0) return std::nullopt;
  }
  const std::string host = lowerAscii(text.substr(0, end));
  if (end == text.size() || (text[end] == ':' && end + 1 == text.size())) return std::make_pair(host, std::nullopt);
  const std::string digits = text.substr(end + 1);
  if (text[end] != ':' || digits.size() > 5 || !std::all_of(digits.begin(), digits.end(), isDigit)) return std::nullopt;
  const int port = std::atoi(digits.c_str());
  if (port > 65535) return std::nullopt;
  return std::make_pair(host, std::optional<int>(port));
}

/** The path as it is sent: without dot segments, and percent-encoded. */
inline std::string normalizePath(const std::string &path) {
  std::vector<std::string> segments;
  std::string segment;
  for (const char c : path + "/") {
    if (c != '/' && c != '\\') {
      const auto byte = static_cast<unsigned char>(c);
      if (byte <= 0x20 || byte >= 0x7f || std::strchr("\"#<>?^`{}", c)) {
        segment += '%';
        segment += "0123456789ABCDEF"[byte >> 4];
        segment += "0123456789ABCDEF"[byte & 15];
      } else {
        segment += c;
      }
      continue;
    }
    std::string dots = lowerAscii(segment);
    for (std::size_t at; (at = dots.find("%2e")) != std::string::npos;) dots.replace(at, 3, ".");
    if (dots == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (dots != ".") {
      segments.push_back(segment);
    }
    segment.clear();
  }
  std::string out;
  for (const std::string &each : segments) out += "/" + each;
  while (!out.empty() && out.back() == '/') out.pop_back();
  return out;
}

inline bool isLoopback(const std::string &host) {
  const auto endsWith = [&](std::string_view end) {
    return host.size() > end.size() && host.compare(host.size() - end.size(), end.size(), end) == 0;
  };
  const bool isAddress = host.compare(0, 4, "127.") == 0 &&
                         std::all_of(host.begin(), host.end(), [](char c) { return isDigit(c) || c == '.'; });
  return host == "localhost" || host == "[::1]" || isAddress || endsWith(".localhost");
}

inline Address toAddress(const std::string &baseUrl) {
  checkText("baseUrl", baseUrl, 2048);
  const std::string url = trim(baseUrl);
  for (const char c : url)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) throw wrongOption("baseUrl is not an address");
  const std::size_t colon = url.find("://");
  const std::string scheme = lowerAscii(url.substr(0, colon));
  if (colon == std::string::npos) throw wrongOption("baseUrl is not an address");
  if (scheme != "https" && scheme != "http") throw wrongOption("baseUrl must be http or https");
  const std::size_t start = colon + 3;
  const std::size_t end = (std::min)(url.find_first_of("/\\?#", start), url.size());
  const std::string authority = url.substr(start, end - start);
  if (authority.find('@') != std::string::npos) throw wrongOption("baseUrl must not carry a user or a password");
  const auto parts = splitAuthority(authority);
  if (!parts) throw wrongOption("baseUrl is not an address; write the host in ASCII");
  const std::string rest = url.substr(end);
  const std::size_t mark = (std::min)(rest.find_first_of("?#"), rest.size());
  if (rest.find_first_not_of("?#", mark) != std::string::npos || rest.size() > mark + 2)
    throw wrongOption("baseUrl must not have a query or a fragment");
  const auto &[host, port] = *parts;
  const bool isDefault = !port || *port == (scheme == "https" ? 443 : 80);
  Address address{scheme + "://" + host + (isDefault ? "" : ":" + std::to_string(*port)),
                  normalizePath(rest.substr(0, mark).substr(rest.empty() || mark == 0 ? 0 : 1))};
  // Signatures protect verdicts over plain HTTP, but passwords are sent in clear text.
  if (scheme == "http" && !isLoopback(host))
    std::fprintf(stderr, "KEYWARD_PLAIN_HTTP: %s is not encrypted: passwords and keys can be read on the way\n",
                 address.origin.c_str());
  return address;
}

}  // namespace keyward::detail

// signature.hpp

namespace keyward::detail {

/** No genuine response is larger; reading stops beyond. */
inline constexpr std::size_t maxAnswerBytes = 256 * 1024;

/** The parts of a request that the response's signature must cover. */
struct SentRequest {
  std::string method;
  /** Path of the public address, percent-encoded as sent, without the query. */
  std::string path;
  std::string nonce;
  std::optional<std::string> authorization = std::nullopt;
  std::optional<std::string> contentDigest = std::nullopt;
};

struct ReceivedAnswer {
  int status = 0;
  /** Names in lower case. */
  std::vector<std::pair<std::string, std::string>> headers;
  /** The raw bytes, before any parsing; cut off somewhere beyond `maxAnswerBytes`. */
  std::string body;

  /** The values of a header joined by a comma and a space, without white space at the ends. */
  std::string header(std::string_view name) const {
    std::string joined;
    bool first = true;
    for (const auto &[each, value] : headers) {
      if (each != name) continue;
      if (!first) joined += ", ";
      first = false;
      joined += value;
    }
    const std::size_t start = joined.find_first_not_of(" \t\r\n");
    if (start == std::string::npos) return "";
    return joined.substr(start, joined.find_last_not_of(" \t\r\n") - start + 1);
  }
};

/** The value of `Content-Digest` (RFC 9530) for a body. */
inline std::string contentDigest(std::string_view body) { return "sha-256=:" + toBase64(sha256(body)) + ":"; }

using Components = std::vector<std::pair<std::string, std::string>>;

/** The components that a response must cover, in the protocol's order, with the expected values. */
inline Components expectedComponents(const SentRequest &sent, const ReceivedAnswer &answer) {
  Components components = {{"\"@status\"", std::to_string(answer.status)},
                           {"\"content-digest\"", answer.header("content-digest")},
                           {"\"@method\";req", sent.method},
                           {"\"@path\";req", sent.path},
                           {"\"keyward-nonce\";req", sent.nonce}};
  if (sent.authorization) components.emplace_back("\"authorization\";req", *sent.authorization);
  if (sent.contentDigest) components.emplace_back("\"content-digest\";req", *sent.contentDigest);
  return components;
}

inline std::string joinNames(const Components &components) {
  std::string out;
  for (const auto &one : components) out += (out.empty() ? "" : " ") + one.first;
  return out;
}

/** The text that the server signed (RFC 9421, section 2.5). */
inline std::string signatureBase(const SentRequest &sent, const ReceivedAnswer &answer, std::int64_t created,
                                 std::string_view keyid) {
  const Components components = expectedComponents(sent, answer);
  std::string base;
  for (const auto &[name, value] : components) base += name + ": " + value + "\n";
  base += "\"@signature-params\": (" + joinNames(components) + ");created=" + std::to_string(created) +
          ";keyid=" + serializeString(keyid) + ";alg=\"ed25519\"";
  return base;
}

inline bool hasLabel(const std::string &value) {
  if (value.empty()) return false;
  try {
    return findIn(DictionaryParser(value).parse(), "keyward") != nullptr;
  } catch (const StructuredFieldError &) {
    // Malformed is not absent: the verification reports what is wrong.
    return true;
  }
}

/** Whether a response has a signature with the protocol's label, valid or not. */
inline bool isSigned(const ReceivedAnswer &answer) {
  return hasLabel(answer.header("signature")) || hasLabel(answer.header("signature-input"));
}

inline std::string componentName(const Item &item) {
  if (item.value.type != BareItem::Type::string) return "";
  std::string name = serializeString(item.value.text);
  for (const auto &[key, flag] : item.params)
    name += ";" + key + (flag.type == BareItem::Type::boolean && flag.flag ? "" : "=?");
  return name;
}

inline bool digestMatches(const ReceivedAnswer &answer) {
  try {
    const Dictionary digests = DictionaryParser(answer.header("content-digest")).parse();
    const Entry *digest = findIn(digests, "sha-256");
    return digest && !digest->isList && digest->item.value.type == BareItem::Type::bytes &&
           digest->item.value.text == sha256(answer.body);
  } catch (const StructuredFieldError &) {
    return false;
  }
}

struct SignatureParameters {
  std::int64_t created;
  std::string keyid;
};

inline std::optional<SignatureParameters> readParameters(const Parameters &params) {
  if (params.size() != 3 || params[0].first != "created" || params[1].first != "keyid" || params[2].first != "alg")
    return std::nullopt;
  const BareItem &created = params[0].second;
  const BareItem &keyid = params[1].second;
  const BareItem &alg = params[2].second;
  if (created.type != BareItem::Type::integer || created.number < 0) return std::nullopt;
  if (keyid.type != BareItem::Type::string || alg.type != BareItem::Type::string || alg.text != "ed25519")
    return std::nullopt;
  return SignatureParameters{created.number, keyid.text};
}

/** What a genuine signature says. */
struct Verified {
  /** The text that was signed. */
  std::string base;
  /** When the server signed it, in seconds since 1970. */
  std::int64_t created = 0;
};

/**
 * Verifies that a response is genuine, complete and meant for exactly this request; throws `SignatureError` otherwise.
 */
inline Verified verifyAnswer(const SentRequest &sent, const ReceivedAnswer &answer, const KeyRing &keys) {
  const auto refused = [&](const char *code, const std::string &message) {
    return SignatureError(code, message + " (" + sent.method + " " + sent.path + ")", answer.status);
  };
  const auto dictionary = [&](const char *name) {
    try {
      return DictionaryParser(answer.header(name)).parse();
    } catch (const StructuredFieldError &error) {
      throw refused("malformed_signature", std::string(name) + ": " + error.what());
    }
  };
  if (answer.body.size() > maxAnswerBytes)
    throw refused("body_too_large", "The answer is larger than " + std::to_string(maxAnswerBytes) + " bytes");
  const Dictionary inputs = dictionary("signature-input");
  const Dictionary signatures = dictionary("signature");
  const Entry *input = findIn(inputs, "keyward");
  const Entry *signature = findIn(signatures, "keyward");
  if (!input || !input->isList || !signature || signature->isList ||
      signature->item.value.type != BareItem::Type::bytes)
    throw refused("malformed_signature", "The signature is incomplete");
  if (signature->item.value.text.size() != 64 || !signature->item.params.empty())
    throw refused("malformed_signature", "The signature is not one of Ed25519");
  const Components expected = expectedComponents(sent, answer);
  const bool isCovered = std::equal(input->items.begin(), input->items.end(), expected.begin(), expected.end(),
                                    [](const Item &item, const auto &one) { return componentName(item) == one.first; });
  if (!isCovered) throw refused("wrong_coverage", "The signature must cover " + joinNames(expected));
  const std::optional<SignatureParameters> parameters = readParameters(input->params);
  if (!parameters) throw refused("wrong_parameters", "The signature has other parameters");
  const std::string *key = findIn(keys, parameters->keyid);
  if (!key) throw refused("unknown_key", "Signed with the unknown key " + parameters->keyid);
  if (!digestMatches(answer)) throw refused("digest_mismatch", "The body does not match its Content-Digest");
  std::string base = signatureBase(sent, answer, parameters->created, parameters->keyid);
  if (!verifyEd25519(*key, base, signature->item.value.text))
    throw refused("bad_signature", "The signature is not of this answer to this request");
  return {std::move(base), parameters->created};
}

/**
 * Explains an unsigned response: a captive portal, another site, a missing app, or something on the way. Anyone on the
 * network can send these, as they can drop the request, so they are never a verdict.
 */
inline NetworkError toStranger(const ReceivedAnswer &answer) {
  const int status = answer.status;
  const std::string type = lowerAscii(answer.header("content-type"));
  const auto isType = [&](std::string_view name) {
    return type.substr(0, name.size()) == name && (type.size() == name.size() || !isWord(type[name.size()]));
  };
  if (isType("text/html") || isType("application/xhtml+xml") || status == 511 || (status >= 300 && status < 400))
    return NetworkError("captive_portal",
                        "A web page answered: a captive portal, or baseUrl is the address of another site", true, status);
  if (status == 404 || status == 405)
    return NetworkError("wrong_address", "No Keyward server answers at baseUrl (status " + std::to_string(status) + ")",
                        false, status);
  const std::optional<Json> body = status == 403 ? Json::parse(answer.body) : std::nullopt;
  if (body && (*body)["code"].string() == "appDisabled")
    return NetworkError("unknown_app", "The server has no app with this appId", false, status);
  return NetworkError("blocked",
                      "A firewall, a proxy or another server answered in place of the server (status " +
                          std::to_string(status) + ")",
                      true, status);
}

/**
 * Returns true for a verdict, false for `unavailable` (429 and 5xx, signed or not). Throws `NetworkError` for any other
 * response without a signature, and `SignatureError` for one whose signature fails. `verified` becomes what its signature
 * says.
 */
inline bool judge(const SentRequest &sent, const ReceivedAnswer &answer, const KeyRing &keys, Verified &verified) {
  const bool isUnavailable = answer.status == 429 || answer.status >= 500;
  const bool hasSignature = isSigned(answer);
  if (!hasSignature && (!isUnavailable || answer.status == 511)) throw toStranger(answer);
  if (hasSignature) verified = verifyAnswer(sent, answer, keys);
  return !isUnavailable;
}

}  // namespace keyward::detail

// exchange.hpp

namespace keyward::detail {

inline constexpr std::size_t maxHeaderBytes = 64 * 1024;

/** How often a wait looks whether it was ended. */
inline constexpr std::chrono::milliseconds betweenLooks{50};

/** An HTTP proxy, as the option `proxy` names it. */
struct Proxy {
  std::string host;
  int port = 80;
  std::string user;
  std::string password;
};

struct Exchange {
  /** Scheme, host and port without a path, such as `https://licenses.example.com:8443`. */
  std::string origin;
  std::string path;
  std::string method;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body = std::nullopt;
  /** Whether executing the request twice has the same effect as once. */
  bool isRepeatable = false;
};

/** Collects the lines of a response's head, and ignores trailers and the heads of interim answers. */
class HeadReader {
 public:
  /** Returns false if the head is too large. */
  bool add(std::string_view line, ReceivedAnswer &answer) {
    size_ += line.size();
    if (size_ > maxHeaderBytes) return false;
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (isComplete_) return true;
    if (line.empty()) {
      isComplete_ = isFinal_;
    } else if (line.substr(0, 5) == "HTTP/") {
      answer.headers.clear();
      const std::size_t space = line.find(' ');
      isFinal_ = space == std::string_view::npos || line.substr(space + 1, 1) != "1";
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos && colon > 0) {
      const std::string_view value = line.substr(colon + 1);
      const std::size_t start = value.find_first_not_of(" \t");
      const std::size_t end = value.find_last_not_of(" \t");
      answer.headers.emplace_back(
          lowerAscii(line.substr(0, colon)),
          start == std::string_view::npos ? "" : std::string(value.substr(start, end - start + 1)));
    }
    return true;
  }

 private:
  std::size_t size_ = 0;
  bool isFinal_ = false;
  bool isComplete_ = false;
};

inline NetworkError timedOut(const Exchange &request) {
  return NetworkError("timed_out", "No answer from " + request.origin + request.path + " in time", true);
}

inline NetworkError unreachable(const Exchange &request, const std::string &reason) {
  return NetworkError("unreachable", "Cannot reach " + request.origin + " (" + reason + ")", false);
}

inline NetworkError connectionLost(const Exchange &request, const std::string &reason) {
  return NetworkError("connection_lost", "The connection to " + request.origin + " broke (" + reason + ")", true);
}

/** These three were not sent either. */
inline NetworkError clockBehind(const Exchange &request, const std::string &reason) {
  return NetworkError("clock",
                      "The certificate of " + request.origin + " is not valid yet (" + reason +
                          "). Set the date and time of this computer, then try again.",
                      false);
}

inline NetworkError certificateExpired(const Exchange &request, const std::string &reason) {
  return NetworkError("certificate",
                      "The certificate of " + request.origin + " has expired (" + reason +
                          "). Check the date and time of this computer; if they are right, tell the vendor of this program.",
                      false);
}

inline NetworkError certificateRejected(const Exchange &request, const std::string &reason) {
  return NetworkError("certificate",
                      "The certificate of " + request.origin + " is not trusted (" + reason +
                          "). A proxy, a virus scanner or another network may be in between; if not, tell the vendor of this program.",
                      false);
}

/** Only the text of libcurl says what is wrong, in the words of OpenSSL, GnuTLS or macOS. */
inline NetworkError certificateError(const Exchange &request, const std::string &problem) {
  const std::string text = lowerAscii(problem);
  const auto says = [&](const char *words) { return text.find(words) != std::string::npos; };
  if (says("not yet valid") || says("not_valid_yet") || says("not activated")) return clockBehind(request, problem);
  return says("expir") ? certificateExpired(request, problem) : certificateRejected(request, problem);
}

inline NetworkError proxyRefused(int status) {
  return NetworkError("unreachable", "The proxy answered " + std::to_string(status), false, status);
}

}  // namespace keyward::detail

// placeholder_ids.hpp

// Written by packages/sdk/generate.ts from the contract.
namespace keyward::detail {

/** Ids and serial numbers that many machines have, in lower case: they identify none of them. */
inline bool isPlaceholderId(const std::string &id) {
  static const std::set<std::string> &ids = *new std::set<std::string>{
      "to be filled by o.e.m.",
      "to be filled by o.e.m",
      "to be filled by oem",
      "to be filled by o.e.m. by more string",
      "filled by oem",
      "o.e.m.",
      "o.e.m",
      "oem",
      "oem_serial",
      "default string",
      "system serial number",
      "system uuid",
      "system product name",
      "system manufacturer",
      "system version",
      "chassis serial number",
      "base board serial number",
      "baseboard serial number",
      "board serial number",
      "motherboard serial number",
      "type2 - board serial number",
      "serial number",
      "serialnumber",
      "serial",
      "asset tag",
      "no asset tag",
      "not specified",
      "not applicable",
      "not available",
      "not present",
      "not provided",
      "not set",
      "not settable",
      "not defined",
      "no enclosure",
      "unspecified",
      "unavailable",
      "unknown",
      "undefined",
      "uninitialized",
      "invalid",
      "empty",
      "none",
      "null",
      "nil",
      "nan",
      "(none)",
      "<none>",
      "(null)",
      "<null>",
      "n/a",
      "na",
      "tbd",
      "0123456789",
      "01234567890123456789",
      "0123456789abcdef",
      "12345678",
      "123456789",
      "1234567890",
      "12345678901234567890",
      "123456789abcdef",
      "123456789012345",
      "1234567890123456",
      "ssn12345678901234567",
      "bsn12345678901234567",
      "mb-1234567890",
      "asset-1234567890",
      "12345678-1234-5678-90ab-cddeefaabbcc",
      "12345678-1234-1234-1234-123456789012",
      "12345678-1234-1234-1234-1234567890ab",
      "00020003-0004-0005-0006-000700080009",
      "03000200-0400-0500-0006-000700080009",
      "03020100-0504-0706-0809-0a0b0c0d0e0f",
      "00112233-4455-6677-8899-aabbccddeeff",
      "fefefefe-fefe-fefe-fefe-fefefefefefe",
      "d41d8cd98f00b204e9800998ecf8427e",
      "da39a3ee5e6b4b0d3255bfef95601890afd80709",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  };
  return ids.count(id) > 0;
}

}  // namespace keyward::detail

// hwid.hpp

namespace keyward::detail {

inline bool consistsOf(std::string_view text, bool (*isIn)(char)) { return std::all_of(text.begin(), text.end(), isIn); }

/** Whether an id or a serial number identifies no machine. The text is trimmed and in lower case. */
inline bool isPlaceholder(const std::string &text) {
  return isPlaceholderId(text) || consistsOf(text, [](char c) { return c == '0' || !isWord(c); }) ||
         consistsOf(text, [](char c) { return c == 'f' || !isWord(c); });
}

/** Returns an empty text if this machine does not have the source, or this user may never read it. */
inline std::string readSource(const std::function<std::string()> &ask) {
  for (int attempt = 1;; attempt++) {
    try {
      return toValidUtf8(ask());
    } catch (const SourceError &error) {
      if (error.isAbsent) return "";
      if (attempt == 3)
        throw UsageError("hwid_unreadable", std::string("The id of this machine could not be read. Try again later, or pass the option hwid. (") +
                                                error.what() + ")");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

inline bool isBurnedIn(const std::string &mac) { return (std::strtol(mac.substr(0, 2).c_str(), nullptr, 16) & 2) == 0; }

/** Fallback for containers and rare systems: the lowest MAC address and the host name. */
inline std::optional<std::string> networkId(const Machine &machine) {
  std::vector<std::string> real;
  for (const std::string &mac : machine.macs)
    if (lowerAscii(mac) != "00:00:00:00:00:00") real.push_back(lowerAscii(mac));
  std::vector<std::string> burnedIn;
  std::copy_if(real.begin(), real.end(), std::back_inserter(burnedIn), isBurnedIn);
  // Software-assigned addresses come last, because they change with every container and tunnel.
  const std::vector<std::string> &list = burnedIn.empty() ? real : burnedIn;
  if (list.empty()) return std::nullopt;
  return "network:" + *std::min_element(list.begin(), list.end()) + ":" + toLower(machine.hostname);
}

inline std::optional<std::string> findMachineId(const Machine &machine) {
  using Source = std::pair<const char *, std::function<std::string()>>;
  std::vector<Source> sources;
  const auto file = [&](const char *name, const char *path) {
    sources.emplace_back(name, [&machine, path] { return machine.read(path); });
  };
  const auto property = [&](const char *name) {
    sources.emplace_back(name, [&machine] { return machine.property("machine"); });
  };
  if (machine.platform == "linux") {
    file("machine-id", "/etc/machine-id");
    file("machine-id", "/var/lib/dbus/machine-id");
    file("dmi", "/sys/class/dmi/id/product_uuid");
  } else if (machine.platform == "darwin") {
    property("ioplatform");
  } else if (machine.platform == "win32") {
    property("machine-guid");
  } else {
    file("hostid", "/etc/hostid");
  }
  for (const Source &source : sources) {
    const std::string id = toLower(trim(readSource(source.second)));
    const bool isMixed = consistsOf(id, [](char c) { return c == '0' || c == 'f' || c == '-'; });
    if (!isPlaceholder(id) && !isMixed) return std::string(source.first) + ":" + id;
  }
  return networkId(machine);
}

inline std::string hashMachineId(const std::string &appId, const std::string &machineId) {
  return toHex(hmacSha256("keyward-hwid-v1:" + appId, machineId));
}

/**
 * A stable id of this machine for one app, as 64 hex digits. The raw id never leaves the machine, and two apps get unrelated
 * ids. Throws `UsageError` (`hwid_unavailable`) if the machine has no id of its own, and (`hwid_unreadable`) if three
 * attempts could not read it: another source would give the machine another id.
 */
inline std::string defaultHwid(const std::string &appId, const Machine &machine) {
  const std::optional<std::string> id = findMachineId(machine);
  if (!id)
    throw UsageError("hwid_unavailable",
                     "This machine has no id of its own. Pass the option hwid, or nullptr to send none.");
  return hashMachineId(appId, *id);
}

}  // namespace keyward::detail

// lock_file.hpp

namespace keyward::detail {

/** A file that exists while one program changes the storage. */
class LockFile {
 public:
  LockFile(std::string path, const std::function<void()> &makeFolders) : path_(std::move(path)) {
    makeFolders();
    const std::string holder = describeProgram(ownNumber()).value_or("");
    const Clock::time_point end = Clock::now() + std::chrono::seconds(2);
    while (Clock::now() < end) {
      const LockAttempt attempt = createLock(path_, holder);
      isOurs_ = attempt == LockAttempt::created;
      if (attempt != LockAttempt::exists) return;
      if (!removeStale()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  LockFile(const LockFile &) = delete;
  LockFile &operator=(const LockFile &) = delete;
  ~LockFile() {
    if (isOurs_) removeFile(path_);
  }

 private:
  /** Removes the lock of a program that was ended; returns whether it did. */
  bool removeStale() const {
    if (!isStale()) return false;
    // One program at a time, and each looks again: otherwise the second one would remove the lock that the first one took.
    const std::string claim = path_ + ".claim";
    if (createLock(claim, "") != LockAttempt::created) {
      if (isOld(claim)) removeFile(claim);
      return false;
    }
    const bool isRemoved = isStale() && removeFile(path_);
    removeFile(claim);
    return isRemoved;
  }

  bool isStale() const { return isOfEndedProgram() || isOld(path_); }

  /** A change takes milliseconds, so an older lock is that of a program that was ended. */
  static bool isOld(const std::string &path) {
    const std::optional<double> age = lockAge(path);
    return age && std::fabs(*age) > 10;
  }

  /** False wherever that cannot be known: on another machine, in another container, of an earlier version. */
  bool isOfEndedProgram() const {
    const std::optional<std::string> own = describeProgram(ownNumber());
    if (!own) return false;
    std::string holder;
    try {
      holder = readWholeFile(path_);
    } catch (const SourceError &) {
      return false;
    }
    const std::size_t digits = holder.find_first_not_of("0123456789");
    const std::size_t place = holder.rfind(' ');
    if (digits == 0 || digits > 9 || holder[0] == '0' || place == std::string::npos || place <= digits + 1) return false;
    if (!consistsOf(std::string_view(holder).substr(digits + 1, place - digits - 1), isDigit)) return false;
    if (own->substr(own->rfind(' ')) != holder.substr(place)) return false;
    const long pid = std::stol(holder.substr(0, digits));
    if (!isRunning(pid)) return true;
    // The system gives the number of an ended program to a new one.
    const std::optional<std::string> running = describeProgram(pid);
    return running && *running != holder;
  }

  std::string path_;
  bool isOurs_ = false;
};

}  // namespace keyward::detail

// file_storage.hpp

namespace keyward::detail {

class FileStorage : public Storage {
 public:
  explicit FileStorage(std::string path) : path_(std::move(path)) {}

  std::optional<std::string> read() override {
    try {
      return readWholeFile(path_);
    } catch (const SourceError &error) {
      if (error.isAbsent && !exists()) return std::nullopt;
      throw;
    }
  }

  void write(const std::string &text) override {
    makeFolders();
    replaceFile(path_, path_ + "." + toHex(randomBytes(16)) + ".tmp", text);
  }

  /** Holds a lock file, which the SDKs of all languages use; goes on without it where that is impossible. */
  void lock(const std::function<void()> &change) override {
    const LockFile held(path_ + ".lock", [this] { makeFolders(); });
    change();
  }

 private:
  void makeFolders() const {
    for (std::size_t at = path_.find_first_of(slashes, 1); at != std::string::npos;
         at = path_.find_first_of(slashes, at + 1))
      makeFolder(path_.substr(0, at));
  }

  bool exists() const {
#ifdef _WIN32
    return GetFileAttributesW(toWide(path_).c_str()) != INVALID_FILE_ATTRIBUTES;
#else
    struct stat facts {};
    return ::lstat(path_.c_str(), &facts) == 0;
#endif
  }

  std::string path_;
};

/** A file of one app in the user's data folder. */
inline std::shared_ptr<Storage> userDataFile(const std::string &appId) {
  std::string name = appId;
  for (char &c : name) c = isWord(c) ? c : '_';
  const char slash = slashes[0];
  return std::make_shared<FileStorage>(dataFolder() + slash + "keyward" + slash + name + ".json");
}

}  // namespace keyward::detail

namespace keyward {

inline std::shared_ptr<Storage> fileStorage(std::string path) {
  return std::make_shared<detail::FileStorage>(std::move(path));
}

}  // namespace keyward

// option_checks.hpp

namespace keyward::detail {

inline std::optional<std::string> percentDecode(const std::string &text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at++) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const std::optional<std::string> byte = fromHex(lowerAscii(text.substr(at + 1, 2)));
    if (!byte || byte->size() != 1) return std::nullopt;
    out += *byte;
    at += 2;
  }
  return out;
}

/** The message does not repeat the option, which may contain a password. */
inline std::optional<Proxy> toProxy(const std::optional<std::string> &option) {
  if (!option) return std::nullopt;
  const auto wrong = wrongOption("proxy must be an address such as http://user:password@host:port");
  const std::string &text = *option;
  if (text.size() > 2048 || lowerAscii(text.substr(0, 7)) != "http://") throw wrong;
  std::string authority = text.substr(7);
  if (!authority.empty() && authority.back() == '/') authority.pop_back();
  Proxy proxy;
  if (const std::size_t at = authority.rfind('@'); at != std::string::npos) {
    const std::string credentials = authority.substr(0, at);
    const std::size_t colon = (std::min)(credentials.find(':'), credentials.size());
    const auto user = percentDecode(credentials.substr(0, colon));
    const auto password = percentDecode(credentials.substr(std::min(colon + 1, credentials.size())));
    if (!user || !password) throw wrong;
    proxy.user = *user;
    proxy.password = *password;
    authority.erase(0, at + 1);
  }
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const bool isBroken = std::any_of(proxy.user.begin(), proxy.user.end(), [&](char c) { return c == ':' || isControl(c); }) ||
                        std::any_of(proxy.password.begin(), proxy.password.end(), isControl);
  const auto parts = splitAuthority(authority);
  if (isBroken || !parts || !isValidUtf8(proxy.user + proxy.password)) throw wrong;
  proxy.host = parts->first;
  proxy.port = parts->second.value_or(80);
  return proxy;
}

/** The options, checked; throws `UsageError` (`invalid_options`) that names the first invalid one. */
struct Checked {
  Options options;
  Address address;
  KeyRing keys;
  std::optional<Proxy> proxy;
  std::shared_ptr<Offline> offline;
  bool sendsDevice;
};

inline Checked checkOptions(Options options, Now now, Now elapsed) {
  if (options.timeoutMs < 100 || options.timeoutMs > 600000) throw wrongOption("timeoutMs must be 100 to 600000");
  if (options.hwid.text) checkText("hwid", *options.hwid.text, 256);
  Checked checked{{}, toAddress(options.baseUrl), {}, toProxy(options.proxy), nullptr,
                  options.device.value_or(options.hwid.isDefault())};
  checkText("appId", options.appId, 64);
  // It is the value of a header.
  if (!std::all_of(options.appId.begin(), options.appId.end(), [](char c) { return c > 0x20 && c < 0x7f; }))
    throw wrongOption("appId must be ASCII without spaces");
  checkText("secret", options.secret, 128);
  const std::optional<Json> keys = Json::parse(options.publicKeys);
  if (!keys) throw wrongOption("publicKeys: expected JSON");
  checked.keys = toKeyRing(*keys);
  checkText("version", options.version, 32);
  if (options.hash) checkText("hash", *options.hash, 256);
  if (options.locale) checkText("locale", *options.locale, 35);
  const std::shared_ptr<Storage> storage =
      options.storage.isUserData ? userDataFile(options.appId) : options.storage.storage;
  if (storage) checked.offline = std::make_shared<Offline>(storage, options.appId, checked.keys, std::move(now), std::move(elapsed));
  checked.options = std::move(options);
  return checked;
}

}  // namespace keyward::detail

// outcome.hpp

namespace keyward::detail {

struct Call {
  std::string method;
  /** Path below `/api/client/`. */
  std::string name;
  std::optional<Json> body = std::nullopt;
  std::optional<std::string> session = std::nullopt;
  /** Whether executing the call twice has the same effect as once. */
  bool isRepeatable = false;
};

/** A signed answer that is a verdict. */
struct Outcome {
  bool ok = false;
  int status = 0;
  std::optional<std::string> message = std::nullopt;
  /** The data of a success, an object. */
  Json data = Json::object();
  /** A refusal, in the form of the result. */
  Json refused = Json::object();
};

inline void copyRefusalFacts(const Json &from, Json &refused) {
  if (from["reference"].isString()) refused.set("reference", from["reference"]);
  if (from["details"].isObject()) refused.set("details", from["details"]);
}

inline Outcome toOutcome(const ReceivedAnswer &answer) {
  const std::optional<Json> parsed = Json::parse(answer.body);
  const Json answered = parsed && parsed->isObject() ? *parsed : Json();
  Outcome outcome;
  outcome.status = answer.status;
  outcome.message = answered["message"].text();
  if (answer.status < 300 && answered["success"].isTrue()) {
    outcome.ok = true;
    if (answered["data"].isObject()) outcome.data = answered["data"];
    return outcome;
  }
  if (answer.status >= 400 && answered["success"].isFalse() && answered["code"].isString()) {
    const std::string &code = answered["code"].string();
    outcome.refused.set("ok", false).set("code", code).set("message", outcome.message.value_or(code));
    if (answered["errors"].isArray()) outcome.refused.set("errors", answered["errors"]);
    copyRefusalFacts(answered, outcome.refused);
    return outcome;
  }
  throw NetworkError("unexpected_answer", "The answer with status " + std::to_string(answer.status) + " is unknown", true,
                     answer.status);
}

inline std::optional<std::int64_t> parseRetryAfter(const std::string &value) {
  if (value.empty()) return std::nullopt;
  if (value.size() <= 9 && std::all_of(value.begin(), value.end(), isDigit)) return std::stoll(value) * 1000;
  const std::optional<std::int64_t> date = parseHttpDate(value);
  if (!date) return std::nullopt;
  const double left = (static_cast<double>(*date) - systemNow()) * 1000;
  return left <= 0 ? 0 : static_cast<std::int64_t>(left);
}

inline NetworkError toUnavailable(const ReceivedAnswer &answer) {
  const int status = answer.status;
  const std::optional<std::int64_t> retryAfterMs = parseRetryAfter(answer.header("retry-after"));
  if (status != 429)
    return NetworkError("server_error", "The server answered " + std::to_string(status), true, status, retryAfterMs);
  const std::string wait = retryAfterMs.value_or(0) > 0
                               ? "in " + std::to_string((*retryAfterMs + 999) / 1000) + " seconds"
                               : std::string("later");
  // Without a signature anyone may have sent this after the server executed the request.
  return NetworkError("rate_limited", "Too many attempts; try again " + wait, !isSigned(answer), status, retryAfterMs);
}

}  // namespace keyward::detail

// shared.hpp

namespace keyward::detail {

/** Runs a function once for concurrent callers, who share its result, but wait for it no longer than until their own end. */
template <class Value>
class Shared {
 public:
  template <class Function>
  Value run(Clock::time_point until, Function function) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (running_) {
      const std::shared_future<Value> future = *running_;
      lock.unlock();
      if (future.wait_until(until) != std::future_status::ready) throw NetworkError("timed_out", "No answer in time", false);
      return future.get();
    }
    std::promise<Value> promise;
    running_ = promise.get_future().share();
    lock.unlock();
    const auto finish = [&] {
      const std::lock_guard<std::mutex> again(mutex_);
      running_.reset();
    };
    try {
      Value value = function();
      finish();
      promise.set_value(value);
      return value;
    } catch (...) {
      finish();
      promise.set_exception(std::current_exception());
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::optional<std::shared_future<Value>> running_;
};

}  // namespace keyward::detail

// http_windows.hpp

#ifdef _WIN32

namespace keyward::detail {

/** WinHTTP in its asynchronous mode, whose waits end at the deadline whatever the server does. */
class Http {
 public:
  /** `stopped` ends what is under way. */
  Http(std::optional<Proxy> proxy, const std::atomic<bool> &stopped) : proxy_(std::move(proxy)), stopped_(stopped) {}
  Http(const Http &) = delete;
  Http &operator=(const Http &) = delete;
  ~Http() {
    if (session_) WinHttpCloseHandle(session_);
  }

  /** Sends one request and reads the whole response, whatever its status. Does not follow redirects. */
  ReceivedAnswer exchange(const Exchange &request, std::int64_t timeoutMs) {
    const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeoutMs);
    // A connection that is kept open may break unnoticed, and WinHTTP then sends the request again.
    const Handle own(request.isRepeatable ? nullptr : openSession());
    const HINTERNET session = request.isRepeatable ? sharedSession() : own.get();
    if (!session) throw unreachable(request, reason(GetLastError()));
    const Parts parts = split(request.origin);
    const Handle connection(WinHttpConnect(session, toWide(parts.host).c_str(), parts.port, 0));
    if (!connection.get()) throw unreachable(request, reason(GetLastError()));
    const DWORD flags = WINHTTP_FLAG_ESCAPE_DISABLE | (parts.isSecure ? WINHTTP_FLAG_SECURE : 0u);
    const HINTERNET handle =
        WinHttpOpenRequest(connection.get(), toWide(request.method).c_str(), toWide(request.path).c_str(), nullptr,
                           WINHTTP_NO_REFERER, WINHTTP_DEFAULT_ACCEPT_TYPES, flags);
    if (!handle) throw unreachable(request, reason(GetLastError()));
    Running running(handle, request.body.value_or(""), stopped_);
    running.setOptions(timeoutMs);
    return receive(request, running, deadline);
  }

 private:
  struct Parts {
    bool isSecure;
    std::string host;
    INTERNET_PORT port;
  };

  class Handle {
   public:
    explicit Handle(HINTERNET handle) : handle_(handle) {}
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() {
      if (handle_) WinHttpCloseHandle(handle_);
    }
    HINTERNET get() const { return handle_; }

   private:
    HINTERNET handle_;
  };

  /** What the callback of WinHTTP writes to; it lives until WinHTTP has closed the request. */
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool isDone = false;
    DWORD error = 0;
    DWORD certificate = 0;
    DWORD length = 0;
    std::string body;
    std::array<char, 16384> buffer{};
  };

  class Running {
   public:
    Running(HINTERNET handle, std::string body, const std::atomic<bool> &stopped)
        : handle_(handle), stopped_(stopped), state_(std::make_shared<State>()) {
      state_->body = std::move(body);
    }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    ~Running() { WinHttpCloseHandle(handle_); }

    HINTERNET handle() const { return handle_; }
    State &state() const { return *state_; }

    void setOptions(std::int64_t timeoutMs) {
      const int ms = static_cast<int>(timeoutMs);
      WinHttpSetTimeouts(handle_, ms, ms, ms, ms);
      set(WINHTTP_OPTION_DISABLE_FEATURE, WINHTTP_DISABLE_COOKIES | WINHTTP_DISABLE_REDIRECTS);
      set(WINHTTP_OPTION_AUTOLOGON_POLICY, WINHTTP_AUTOLOGON_SECURITY_LEVEL_HIGH);
      // WinHTTP passes the context to the callback until the handle is closed, which frees it.
      auto *context = new std::shared_ptr<State>(state_);
      auto value = reinterpret_cast<DWORD_PTR>(context);
      WinHttpSetStatusCallback(handle_, &Running::onStatus,
                               WINHTTP_CALLBACK_FLAG_ALL_COMPLETIONS | WINHTTP_CALLBACK_FLAG_HANDLES |
                                   WINHTTP_CALLBACK_FLAG_SECURE_FAILURE,
                               0);
      if (!WinHttpSetOption(handle_, WINHTTP_OPTION_CONTEXT_VALUE, &value, sizeof value)) delete context;
    }

    /** Starts an operation and waits until it is done. Returns 0, an error of Windows, or ERROR_WINHTTP_TIMEOUT. */
    template <class Operation>
    DWORD run(Clock::time_point deadline, Operation operation) {
      std::unique_lock<std::mutex> lock(state_->mutex);
      state_->isDone = false;
      state_->error = 0;
      lock.unlock();
      if (!operation()) {
        const DWORD error = GetLastError();
        if (error != ERROR_IO_PENDING) return error == 0 ? static_cast<DWORD>(ERROR_WINHTTP_INTERNAL_ERROR) : error;
      }
      lock.lock();
      while (!state_->isDone) {
        const Clock::time_point now = Clock::now();
        if (now >= deadline || stopped_) return ERROR_WINHTTP_TIMEOUT;
        state_->changed.wait_until(lock, (std::min)(deadline, now + betweenLooks));
      }
      return state_->error;
    }

   private:
    void set(DWORD option, DWORD value) { WinHttpSetOption(handle_, option, &value, sizeof value); }

    /** The flags come before the error, which says no more than that the connection is not secure. */
    static DWORD toCertificateError(DWORD flags) {
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_DATE_INVALID) return ERROR_WINHTTP_SECURE_CERT_DATE_INVALID;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_CN_INVALID) return ERROR_WINHTTP_SECURE_CERT_CN_INVALID;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_INVALID_CA) return ERROR_WINHTTP_SECURE_INVALID_CA;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_REVOKED) return ERROR_WINHTTP_SECURE_CERT_REVOKED;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_REV_FAILED) return ERROR_WINHTTP_SECURE_CERT_REV_FAILED;
      if (flags & WINHTTP_CALLBACK_STATUS_FLAG_INVALID_CERT) return ERROR_WINHTTP_SECURE_INVALID_CERT;
      return ERROR_WINHTTP_SECURE_FAILURE;
    }

    static void CALLBACK onStatus(HINTERNET, DWORD_PTR value, DWORD status, LPVOID information, DWORD length) {
      auto *context = reinterpret_cast<std::shared_ptr<State> *>(value);
      if (!context) return;
      if (status == WINHTTP_CALLBACK_STATUS_HANDLE_CLOSING) {
        delete context;
        return;
      }
      State &state = **context;
      const std::lock_guard<std::mutex> lock(state.mutex);
      switch (status) {
        case WINHTTP_CALLBACK_STATUS_SECURE_FAILURE:
          state.certificate = *static_cast<DWORD *>(information);
          return;
        case WINHTTP_CALLBACK_STATUS_REQUEST_ERROR:
          state.error = static_cast<WINHTTP_ASYNC_RESULT *>(information)->dwError;
          if (state.error == ERROR_WINHTTP_SECURE_FAILURE) state.error = toCertificateError(state.certificate);
          break;
        case WINHTTP_CALLBACK_STATUS_DATA_AVAILABLE:
          state.length = *static_cast<DWORD *>(information);
          break;
        case WINHTTP_CALLBACK_STATUS_READ_COMPLETE:
          state.length = length;
          break;
        case WINHTTP_CALLBACK_STATUS_SENDREQUEST_COMPLETE:
        case WINHTTP_CALLBACK_STATUS_HEADERS_AVAILABLE:
          break;
        default:
          return;
      }
      state.isDone = true;
      state.changed.notify_all();
    }

    HINTERNET handle_;
    const std::atomic<bool> &stopped_;
    std::shared_ptr<State> state_;
  };

  static Parts split(const std::string &origin) {
    Parts parts{origin.compare(0, 8, "https://") == 0, origin.substr(origin.find("://") + 3), 0};
    parts.port = parts.isSecure ? INTERNET_DEFAULT_HTTPS_PORT : INTERNET_DEFAULT_HTTP_PORT;
    const std::size_t colon = parts.host.rfind(':');
    if (colon != std::string::npos && parts.host.find(']', colon) == std::string::npos) {
      parts.port = static_cast<INTERNET_PORT>(std::atoi(parts.host.c_str() + colon + 1));
      parts.host.resize(colon);
    }
    return parts;
  }

  static std::string reason(DWORD error) { return "error " + std::to_string(error) + " of Windows"; }

  HINTERNET openSession() const {
    const std::wstring agent = toWide(sdk);
    if (proxy_) {
      const std::wstring proxy = toWide(proxy_->host + ":" + std::to_string(proxy_->port));
      return WinHttpOpen(agent.c_str(), WINHTTP_ACCESS_TYPE_NAMED_PROXY, proxy.c_str(), WINHTTP_NO_PROXY_BYPASS,
                         WINHTTP_FLAG_ASYNC);
    }
    const DWORD automaticProxy = 4;
    HINTERNET session =
        WinHttpOpen(agent.c_str(), automaticProxy, WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS, WINHTTP_FLAG_ASYNC);
    // Systems before Windows 8.1 do not know the automatic proxy.
    if (!session)
      session = WinHttpOpen(agent.c_str(), WINHTTP_ACCESS_TYPE_DEFAULT_PROXY, WINHTTP_NO_PROXY_NAME, WINHTTP_NO_PROXY_BYPASS,
                            WINHTTP_FLAG_ASYNC);
    return session;
  }

  HINTERNET sharedSession() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!session_) session_ = openSession();
    return session_;
  }

  static NetworkError toError(const Exchange &request, DWORD error);

  ReceivedAnswer receive(const Exchange &request, Running &running, Clock::time_point deadline);

  static void send(const Exchange &request, Running &running, const std::wstring &headers, Clock::time_point deadline);

  static DWORD queryStatus(HINTERNET handle);

  static std::string queryHead(HINTERNET handle);

  static ReceivedAnswer read(const Exchange &request, Running &running, int status, Clock::time_point deadline);

  std::optional<Proxy> proxy_;
  const std::atomic<bool> &stopped_;
  std::mutex mutex_;
  HINTERNET session_ = nullptr;
};

}  // namespace keyward::detail

#endif

// http_curl.hpp

#ifndef _WIN32

namespace keyward::detail {

/** While it lives, a connection that the server closes does not send SIGPIPE to the thread, which would end the program. */
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    wasPending_ = isPending();
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe &) = delete;
  NoBrokenPipe &operator=(const NoBrokenPipe &) = delete;
  ~NoBrokenPipe() {
    if (!wasPending_ && isPending()) {
#ifdef __APPLE__
      int taken = 0;
      sigwait(&pipe_, &taken);
#else
      const timespec atOnce{0, 0};
      sigtimedwait(&pipe_, nullptr, &atOnce);
#endif
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static bool isPending() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t pipe_;
  sigset_t before_;
  bool wasPending_ = false;
};

/** libcurl, with a handle for each concurrent call, so that connections stay open between calls. */
class Http {
 public:
  /** `stopped` ends what is under way. */
  Http(std::optional<Proxy> proxy, const std::atomic<bool> &stopped) : proxy_(std::move(proxy)), stopped_(stopped) {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (started != CURLE_OK) throw UsageError("crypto_unavailable", "libcurl does not start on this system");
  }
  Http(const Http &) = delete;
  Http &operator=(const Http &) = delete;
  ~Http() {
    const NoBrokenPipe guard;
    for (CURL *each : idle_) curl_easy_cleanup(each);
  }

  /** Sends one request and reads the whole response, whatever its status. Does not follow redirects. */
  ReceivedAnswer exchange(const Exchange &request, std::int64_t timeoutMs) {
    Running running;
    const std::unique_ptr<CURL, std::function<void(CURL *)>> curl(take(), [this](CURL *used) { release(used); });
    if (!curl) throw unreachable(request, "out of memory");
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(toList(request), &curl_slist_free_all);
    setOptions(curl.get(), request, timeoutMs, headers.get(), running);
    const CURLcode code = perform(curl.get());
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    running.answer.status = static_cast<int>(status);
    long connectStatus = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_HTTP_CONNECTCODE, &connectStatus);
    if (code == CURLE_OK || running.isTooLarge) {
      if (proxy_ && status == 407) throw proxyRefused(407);
      return std::move(running.answer);
    }
    const char *text = curl_easy_strerror(code);
    if (connectStatus >= 300) throw proxyRefused(static_cast<int>(connectStatus));
    if (code == CURLE_OPERATION_TIMEDOUT) throw timedOut(request);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_ISSUER_ERROR)
      throw certificateError(request, running.problem[0] != '\0' ? running.problem.data() : text);
    if (isNeverSent(code, running)) throw unreachable(request, text);
    throw connectionLost(request, text);
  }

 private:
  struct Running {
    ReceivedAnswer answer;
    HeadReader head;
    std::array<char, CURL_ERROR_SIZE> problem{};
    bool isTooLarge = false;
    int connections = 0;
  };

  static int onProgress(void *stopped, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return *static_cast<const std::atomic<bool> *>(stopped) ? 1 : 0;
  }

#if LIBCURL_VERSION_NUM >= 0x075000
  static constexpr bool knowsConnections = true;
#else
  static constexpr bool knowsConnections = false;
#endif

  /** Whether the server cannot have received the request. */
  static bool isNeverSent(CURLcode code, const Running &running) {
    if (knowsConnections) return running.connections == 0;
    switch (code) {
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
      case CURLE_COULDNT_CONNECT:
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CERTPROBLEM:
      case CURLE_SSL_CIPHER:
      case CURLE_SSL_CACERT_BADFILE:
      case CURLE_SSL_ISSUER_ERROR:
      case CURLE_URL_MALFORMAT:
      case CURLE_UNSUPPORTED_PROTOCOL:
        return true;
      default:
        return false;
    }
  }

  static CURLcode perform(CURL *curl) {
    const NoBrokenPipe guard;
    return curl_easy_perform(curl);
  }

  CURL *take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return curl_easy_init();
    CURL *found = idle_.back();
    idle_.pop_back();
    return found;
  }

  void release(CURL *used) {
    if (!used) return;
    const NoBrokenPipe guard;
    curl_easy_reset(used);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < 4)
      idle_.push_back(used);
    else
      curl_easy_cleanup(used);
  }

  static curl_slist *toList(const Exchange &request) {
    curl_slist *list = nullptr;
    const auto add = [&](const std::string &line) {
      if (curl_slist *longer = curl_slist_append(list, line.c_str())) list = longer;
    };
    for (const auto &[name, value] : request.headers) add(name + ": " + value);
    add("Expect:");
    if (!request.body) add("Content-Type:");
    return list;
  }

  static std::size_t onHeader(char *data, std::size_t size, std::size_t count, void *user) {
    auto &running = *static_cast<Running *>(user);
    return running.head.add(std::string_view(data, size * count), running.answer) ? size * count : 0;
  }

  static std::size_t onBody(char *data, std::size_t size, std::size_t count, void *user) {
    auto &running = *static_cast<Running *>(user);
    running.answer.body.append(data, size * count);
    running.isTooLarge = running.answer.body.size() > maxAnswerBytes;
    return running.isTooLarge ? 0 : size * count;
  }

#if LIBCURL_VERSION_NUM >= 0x075000
  /** libcurl repeats a request by itself if a connection that was kept open breaks. The SDK decides about that. */
  static int onConnected(void *user, char *, char *, int, int) {
    auto &running = *static_cast<Running *>(user);
    running.connections++;
    return running.connections == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  }
#endif

  void setOptions(CURL *curl, const Exchange &request, std::int64_t timeoutMs, curl_slist *headers,
                  Running &running) const {
    const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
    const std::string url = request.origin + request.path;
    set(CURLOPT_URL, url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeoutMs));
#if LIBCURL_VERSION_NUM >= 0x075700
    // Without it the end of the time waits for a name server that does not answer.
    set(CURLOPT_QUICK_EXIT, 1L);
#endif
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_ERRORBUFFER, running.problem.data());
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Http::onProgress);
    set(CURLOPT_XFERINFODATA, const_cast<std::atomic<bool> *>(&stopped_));
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_USERAGENT, sdk);
    set(CURLOPT_HEADERFUNCTION, &Http::onHeader);
    set(CURLOPT_HEADERDATA, static_cast<void *>(&running));
    set(CURLOPT_WRITEFUNCTION, &Http::onBody);
    set(CURLOPT_WRITEDATA, static_cast<void *>(&running));
#if LIBCURL_VERSION_NUM >= 0x075000
    set(CURLOPT_PREREQFUNCTION, &Http::onConnected);
    set(CURLOPT_PREREQDATA, static_cast<void *>(&running));
#else
    set(CURLOPT_FRESH_CONNECT, 1L);
#endif
    if (!request.isRepeatable) set(CURLOPT_FRESH_CONNECT, 1L);
    if (request.method == "POST") {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, request.body ? request.body->c_str() : "");
      set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body ? request.body->size() : 0));
    } else if (request.method != "GET") {
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    if (!proxy_) return;
    set(CURLOPT_PROXY, proxy_->host.c_str());
    set(CURLOPT_PROXYPORT, static_cast<long>(proxy_->port));
    set(CURLOPT_PROXYTYPE, static_cast<long>(CURLPROXY_HTTP));
    set(CURLOPT_NOPROXY, "");
    if (proxy_->user.empty() && proxy_->password.empty()) return;
    set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_PROXYUSERNAME, proxy_->user.c_str());
    set(CURLOPT_PROXYPASSWORD, proxy_->password.c_str());
  }

  std::optional<Proxy> proxy_;
  const std::atomic<bool> &stopped_;
  std::mutex mutex_;
  std::vector<CURL *> idle_;
};

}  // namespace keyward::detail

#endif

// http_windows_answer.hpp

#ifdef _WIN32

namespace keyward::detail {

inline NetworkError Http::toError(const Exchange &request, DWORD error) {
  switch (error) {
    case ERROR_WINHTTP_TIMEOUT:
      return timedOut(request);
    case ERROR_WINHTTP_SECURE_CERT_DATE_INVALID:
      // Windows does not say at which end, but before this version was made, in November 2026, no clock was right.
      return systemNow() < 1793491200 ? clockBehind(request, reason(error)) : certificateExpired(request, reason(error));
    case ERROR_WINHTTP_SECURE_CERT_CN_INVALID:
    case ERROR_WINHTTP_SECURE_INVALID_CA:
    case ERROR_WINHTTP_SECURE_CERT_REV_FAILED:
    case ERROR_WINHTTP_SECURE_CERT_REVOKED:
    case ERROR_WINHTTP_SECURE_CERT_WRONG_USAGE:
    case ERROR_WINHTTP_SECURE_INVALID_CERT:
      return certificateRejected(request, reason(error));
    case ERROR_WINHTTP_CANNOT_CONNECT:
    case ERROR_WINHTTP_NAME_NOT_RESOLVED:
    case ERROR_WINHTTP_SECURE_FAILURE:
    case ERROR_WINHTTP_INVALID_URL:
    case ERROR_WINHTTP_UNRECOGNIZED_SCHEME:
    case ERROR_WINHTTP_CLIENT_AUTH_CERT_NEEDED:
      return unreachable(request, reason(error));
    default:
      return connectionLost(request, reason(error));
  }
}

inline ReceivedAnswer Http::receive(const Exchange &request, Running &running, Clock::time_point deadline) {
  std::wstring headers;
  for (const auto &[name, value] : request.headers) headers += toWide(name + ": " + value + "\r\n");
  for (bool hasAuthorized = false;;) {
    send(request, running, headers, deadline);
    const DWORD status = queryStatus(running.handle());
    if (status != 407 || !proxy_) return read(request, running, static_cast<int>(status), deadline);
    if (hasAuthorized || proxy_->user.empty()) throw proxyRefused(407);
    hasAuthorized = true;
    // Nothing reached the server: the proxy asks for its password first.
    WinHttpSetCredentials(running.handle(), WINHTTP_AUTH_TARGET_PROXY, WINHTTP_AUTH_SCHEME_BASIC,
                          toWide(proxy_->user).c_str(), toWide(proxy_->password).c_str(), nullptr);
  }
}

inline void Http::send(const Exchange &request, Running &running, const std::wstring &headers, Clock::time_point deadline) {
  std::string &body = running.state().body;
  const auto size = static_cast<DWORD>(body.size());
  const DWORD failed = running.run(deadline, [&] {
    return WinHttpSendRequest(running.handle(), headers.c_str(), static_cast<DWORD>(headers.size()),
                              size > 0 ? body.data() : WINHTTP_NO_REQUEST_DATA, size, size, 0) != FALSE;
  });
  if (failed != 0) throw toError(request, failed);
  const DWORD lost =
      running.run(deadline, [&] { return WinHttpReceiveResponse(running.handle(), nullptr) != FALSE; });
  if (lost != 0) throw toError(request, lost);
}

inline DWORD Http::queryStatus(HINTERNET handle) {
  DWORD status = 0;
  DWORD size = sizeof status;
  WinHttpQueryHeaders(handle, WINHTTP_QUERY_STATUS_CODE | WINHTTP_QUERY_FLAG_NUMBER, WINHTTP_HEADER_NAME_BY_INDEX,
                      &status, &size, WINHTTP_NO_HEADER_INDEX);
  return status;
}

inline std::string Http::queryHead(HINTERNET handle) {
  DWORD size = 0;
  WinHttpQueryHeaders(handle, WINHTTP_QUERY_RAW_HEADERS_CRLF, WINHTTP_HEADER_NAME_BY_INDEX, WINHTTP_NO_OUTPUT_BUFFER,
                      &size, WINHTTP_NO_HEADER_INDEX);
  std::wstring wide(size / sizeof(wchar_t) + 1, L'\0');
  size = static_cast<DWORD>(wide.size() * sizeof(wchar_t));
  if (!WinHttpQueryHeaders(handle, WINHTTP_QUERY_RAW_HEADERS_CRLF, WINHTTP_HEADER_NAME_BY_INDEX, wide.data(), &size,
                           WINHTTP_NO_HEADER_INDEX))
    return {};
  wide.resize(size / sizeof(wchar_t));
  std::string head;
  for (const wchar_t c : wide) head += c > 0 && c < 256 ? static_cast<char>(static_cast<unsigned char>(c)) : '?';
  return head;
}

inline ReceivedAnswer Http::read(const Exchange &request, Running &running, int status, Clock::time_point deadline) {
  ReceivedAnswer answer;
  answer.status = status;
  const std::string head = queryHead(running.handle());
  HeadReader reader;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t end = head.find("\r\n", at);
    const std::size_t stop = end == std::string::npos ? head.size() : end;
    if (!reader.add(std::string_view(head).substr(at, stop - at), answer))
      throw connectionLost(request, "the head of the answer is too large");
    at = stop + 2;
  }
  for (;;) {
    State &state = running.state();
    // Reading more than there is could wait for the rest, beyond the deadline.
    const DWORD lost =
        running.run(deadline, [&] { return WinHttpQueryDataAvailable(running.handle(), nullptr) != FALSE; });
    if (lost != 0) throw toError(request, lost);
    if (state.length == 0) break;
    const DWORD size = (std::min)(state.length, static_cast<DWORD>(state.buffer.size()));
    const DWORD failed = running.run(
        deadline, [&] { return WinHttpReadData(running.handle(), state.buffer.data(), size, nullptr) != FALSE; });
    if (failed != 0) throw toError(request, failed);
    if (state.length == 0) break;
    answer.body.append(state.buffer.data(), state.length);
    if (answer.body.size() > maxAnswerBytes) return answer;
  }
  const std::string declared = answer.header("content-length");
  if (!declared.empty() && std::strtoull(declared.c_str(), nullptr, 10) > answer.body.size())
    throw connectionLost(request, "the answer is incomplete");
  return answer;
}

}  // namespace keyward::detail

#endif

// transport.hpp

namespace keyward::detail {

inline std::int64_t millisecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

/** Sends calls, accepts only signed responses, and retries what is safe to repeat. */
class Transport {
 public:
  Transport(Address address, std::string appId, KeyRing keys, std::optional<Proxy> proxy,
            std::function<void(const LogEvent &)> log)
      : address_(std::move(address)),
        appId_(std::move(appId)),
        keys_(std::move(keys)),
        log_(std::move(log)),
        http_(std::move(proxy), stopped_) {}

  /** Ends what is under way, with errors. */
  void stop() { stopped_ = true; }

  /** No attempt or pause exceeds the deadline. */
  Outcome send(const Call &call, Clock::time_point deadline) {
    for (int attempt = 1;; attempt++) {
      const Clock::time_point start = Clock::now();
      std::int64_t pauseMs = 0;
      try {
        Outcome outcome = sendOnce(call, attempt, deadline);
        LogEvent event = toEvent("response", call, attempt, start);
        event.status = outcome.status;
        const Json &facts = outcome.ok ? outcome.data : outcome.refused;
        event.code = facts["code"].text();
        event.reference = facts["reference"].text();
        log(event);
        return outcome;
      } catch (const NetworkError &error) {
        LogEvent event = toEvent("failed", call, attempt, start);
        event.code = error.code;
        event.status = error.status;
        pauseMs = toPauseMs(attempt, error.retryAfterMs.value_or(0));
        if (attempt == maxAttempts || stopped_ || !mayRepeat(call, error) ||
            Clock::now() + std::chrono::milliseconds(pauseMs) >= deadline) {
          log(event);
          throw;
        }
        event.event = "retry";
        event.delayMs = pauseMs;
        log(event);
      } catch (const SignatureError &error) {
        LogEvent event = toEvent("failed", call, attempt, start);
        event.code = error.code;
        event.status = error.status;
        log(event);
        throw;
      }
      const Clock::time_point next = Clock::now() + std::chrono::milliseconds(pauseMs);
      for (Clock::time_point now = Clock::now(); now < next && !stopped_; now = Clock::now())
        std::this_thread::sleep_for((std::min<Clock::duration>)(next - now, betweenLooks));
    }
  }

  /** When the server signed its last verdict, in seconds since 1970. The clock of this machine has no part in it. */
  std::optional<double> serverTime() const {
    const std::int64_t time = serverTime_;
    return time < 0 ? std::nullopt : std::optional<double>(static_cast<double>(time));
  }

  /** A hook must not change the result of a call, whatever it does. */
  void log(const LogEvent &event) const {
    if (!log_) return;
    try {
      log_(event);
    } catch (...) {
    }
  }

 private:
  static constexpr int maxAttempts = 3;
  static constexpr std::int64_t firstPauseMs = 250;
  static constexpr std::int64_t longestPauseMs = 4000;

  /** Only the first part of a name: the others are ids. */
  static LogEvent toEvent(const char *kind, const Call &call, int attempt, std::optional<Clock::time_point> start) {
    LogEvent event;
    event.event = kind;
    event.call = call.name.substr(0, call.name.find('/'));
    event.attempt = attempt;
    if (start) event.durationMs = millisecondsSince(*start);
    return event;
  }

  /**
   * A signed 429 was sent before any work, so even non-repeatable calls can be retried. A proxy may send an unsigned one
   * after it lost the answer of a request that it passed on.
   */
  static bool mayRepeat(const Call &call, const NetworkError &error) {
    static const std::set<std::string> &lasting = *new std::set<std::string>{
        "unexpected_answer", "captive_portal", "wrong_address", "unknown_app",
        "blocked", "certificate", "clock"};
    // A proxy that rejects the credentials would lock their account after a few more attempts.
    if (lasting.count(error.code) > 0 || error.status == 407) return false;
    return call.isRepeatable || !error.outcomeUnknown;
  }

  static std::int64_t toPauseMs(int attempt, std::int64_t retryAfterMs) {
    const std::int64_t ceiling = (std::min)(longestPauseMs, firstPauseMs << attempt);
    thread_local std::mt19937 random{std::random_device{}()};
    return retryAfterMs + std::uniform_int_distribution<std::int64_t>(ceiling / 2, ceiling)(random);
  }

  Outcome sendOnce(const Call &call, int attempt, Clock::time_point deadline) {
    const std::int64_t leftMs =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (leftMs <= 0) throw NetworkError("timed_out", "The time for this call is used up", false);
    // Leave time for a retry, so that one hanging connection does not use up the whole timeout.
    const std::int64_t attemptMs = call.isRepeatable && attempt < maxAttempts ? (leftMs + 1) / 2 : leftMs;
    SentRequest sent;
    const Exchange request = prepare(call, sent);
    log(toEvent("request", call, attempt, std::nullopt));
    const ReceivedAnswer answer = http_.exchange(request, attemptMs);
    Verified verified;
    if (!judge(sent, answer, keys_, verified)) throw toUnavailable(answer);
    serverTime_ = verified.created;
    return toOutcome(answer);
  }

  Exchange prepare(const Call &call, SentRequest &sent) const {
    sent.method = call.method;
    sent.path = address_.prefix + "/api/client/" + call.name;
    sent.nonce = toBase64Url(randomBytes(24));
    Exchange request;
    request.origin = address_.origin;
    request.path = sent.path;
    request.method = call.method;
    request.isRepeatable = call.isRepeatable;
    std::string kids;
    for (const auto &one : keys_) kids += (kids.empty() ? "" : ",") + one.first;
    // The digest covers the bytes on the wire.
    request.headers = {{"accept", "application/json"},
                       {"accept-encoding", "identity"},
                       {"keyward-nonce", sent.nonce},
                       {"keyward-keys", kids}};
    if (call.session) {
      sent.authorization = "Bearer " + *call.session;
      request.headers.emplace_back("authorization", *sent.authorization);
      request.headers.emplace_back("keyward-app", appId_);
    }
    if (call.body) {
      request.body = call.body->dump();
      sent.contentDigest = contentDigest(*request.body);
      request.headers.emplace_back("content-type", "application/json");
      request.headers.emplace_back("content-digest", *sent.contentDigest);
    }
    return request;
  }

  Address address_;
  std::string appId_;
  KeyRing keys_;
  std::function<void(const LogEvent &)> log_;
  std::atomic<bool> stopped_{false};
  Http http_;
  std::atomic<std::int64_t> serverTime_{-1};
};

}  // namespace keyward::detail

// typed_results.hpp

namespace keyward::detail {

inline std::map<std::string, std::string> toTexts(const Json &value) {
  std::map<std::string, std::string> texts;
  for (const Json::Member &one : value.members())
    if (one.value.isString()) texts[one.name] = one.value.string();
  return texts;
}

inline int toInt(const Json &value) {
  const double number = value.number();
  return number >= -2147483648.0 && number <= 2147483647.0 ? static_cast<int>(number) : 0;
}

inline std::vector<std::string> toList(const Json &value) {
  std::vector<std::string> list;
  for (const Json &one : value.items())
    if (one.isString()) list.push_back(one.string());
  return list;
}

inline SessionUser toUser(const Json &from) {
  SessionUser user;
  user.id = from["_id"].string();
  user.username = from["username"].string();
  user.email = from["email"].text();
  user.expiresAt = from["expiresAt"].text();
  user.inGrace = from["inGrace"].isTrue();
  user.term = from["term"].string();
  user.createdAt = from["createdAt"].string();
  user.lastLoginAt = from["lastLoginAt"].text();
  user.hwidBound = from["hwidBound"].isTrue();
  user.features = toList(from["features"]);
  user.variables = toTexts(from["variables"]);
  user.updatesUntil = from["updatesUntil"].text();
  user.devices = {toInt(from["devices"]["used"]), toInt(from["devices"]["limit"])};
  if (from["updateAvailable"].isBoolean()) user.updateAvailable = from["updateAvailable"].isTrue();
  if (from["seat"].isObject()) user.seat = Seat{from["seat"]["until"].string()};
  return user;
}

inline void readInto(const Json &from, UserData &data) {
  data.user = toUser(from["user"]);
  const Json &offline = from["offline"];
  if (offline.isObject())
    data.offline = OfflineState{offline["until"].text(), offline["graceUntil"].text(), offline["inGrace"].isTrue()};
}

inline void readInto(const Json &from, InitData &data) {
  data.expiresAt = from["expiresAt"].string();
  data.app = {from["app"]["name"].string(), from["app"]["version"].string()};
  data.updateAvailable = from["updateAvailable"].isTrue();
  data.variables = toTexts(from["variables"]);
}

inline void readInto(const Json &from, ValidateData &data) {
  const Json &license = from["license"];
  data.license.key = license["key"].string();
  data.license.used = license["used"].isTrue();
  data.license.username = license["username"].text();
  data.license.expiresAt = license["expiresAt"].text();
  data.license.inGrace = license["inGrace"].isTrue();
  data.license.term = license["term"].string();
  data.activated = from["activated"].isTrue();
}

inline void readInto(const Json &from, DevicesData &data) {
  for (const Json &one : from["devices"].items())
    data.devices.push_back({one["_id"].string(), one["name"].text(), one["system"].text(), one["firstSeenAt"].string(),
                            one["lastSeenAt"].string()});
}

inline void readInto(const Json &, Nothing &) {}

template <class Data>
Result<Data> toResult(Json json) {
  Result<Data> result;
  result.ok = json["ok"].isTrue();
  result.message = json["message"].string();
  if (result.ok) {
    readInto(json, result);
  } else {
    result.code = json["code"].string();
    result.reference = json["reference"].string();
    result.details = json["details"];
    for (const Json &one : json["errors"].items()) result.errors.push_back({one["path"].string(), one["message"].string()});
  }
  result.json = std::move(json);
  return result;
}

}  // namespace keyward::detail

// client.hpp

namespace keyward {

/**
 * A program's client for its Keyward server. Each call blocks and returns a `Result`: `ok` with data, or not `ok` with `code`
 * and `message` if the server refuses. Throws `NetworkError` without a usable response, `SignatureError` for a response that
 * is not genuine, `UsageError` for an invalid call. One client may be used by many threads at the same time.
 */
class Client {
 public:
  /** Throws `UsageError` (`invalid_options`) if an option is missing or invalid. Sends nothing. */
  explicit Client(Options options) : Client(std::move(options), detail::systemNow) {}

  /**
   * `now` replaces the clock that leases and activations are compared with, for tests: seconds since 1970. `elapsed` replaces
   * the one that counts on whatever the user sets: seconds since any time.
   */
  Client(Options options, std::function<double()> now, std::function<double()> elapsed = detail::systemElapsed)
      : checked_(detail::checkOptions(std::move(options), std::move(now), elapsed)),
        transport_(checked_.address, checked_.options.appId, checked_.keys, checked_.proxy, checked_.options.log),
        away_(std::move(elapsed)) {}

  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;
  /** Ends a request of the background within about a second. */
  ~Client() { transport_.stop(); }

  /**
   * Opens a session and reports whether the app is enabled and has a newer version. Other calls do this when needed. Calling
   * it again starts a new session, signed out.
   */
  Result<InitData> init();

  /**
   * Creates an end user from an unused license key and signs in. Never retried automatically: after a `NetworkError` with
   * `outcomeUnknown`, try `login` to find out whether it succeeded. The underscore is there because `register` is a keyword.
   */
  Result<UserData> register_(const Registration &registration);

  /** Signs an end user in by username and password; the first sign-in binds the user to this machine. */
  Result<UserData> login(const Credentials &credentials);

  /** Signs in by license key alone; the first use redeems the key and binds it to this machine. */
  Result<UserData> license(const std::string &licenseKey);

  /**
   * Redeems a key for an end user and adds the key's remaining time. Never retried automatically: after a `NetworkError` with
   * `outcomeUnknown`, compare the user's `expiresAt`.
   */
  Result<UserData> upgrade(const Upgrade &upgrade);

  /**
   * Returns the signed-in user and its expiry; call it before every unit of work. A ban, pause or expiry is reported from the
   * next call on. `sessionUnauthed` means that no user is signed in. After `license` it signs in again by itself once the
   * session has ended, and with the option `storage` also after a restart, if the vendor lets the app remember sign-ins.
   */
  Result<UserData> session();

  /**
   * Ends the session. Always succeeds locally, even if the server is not reached or there is no session. A sign-in or `session`
   * that is still under way ends with `sessionUnauthed`, also if the server grants it.
   */
  Result<Nothing> logout();

  /**
   * Starts the only trial of this machine, or signs in to it while it runs; then `trialUsed`. Without a hardware id the server
   * refuses.
   */
  Result<UserData> trial(const Trial &trial = {});

  /** Lists the devices of the signed-in user, if the app lets users free devices. */
  Result<DevicesData> devices();

  /**
   * Frees a device of the signed-in user, so that another one can take its place. `device_cooldown` says in `details.until`
   * when the next may be freed. Never retried automatically.
   */
  Result<Nothing> freeDevice(const std::string &deviceId);

  /**
   * Checks a license in one call, without signing in. `ok` only if it can be used now on this machine. Without `activate` it
   * binds nothing, so an unused key is valid on any number of machines: prefer `license`, or pass `{true}`, which redeems an
   * unused key and binds this machine.
   */
  Result<ValidateData> validate(const std::string &licenseKey, const ValidateOptions &options = {});

  /**
   * Whether the license of the signed-in user includes a feature, by the last answer to a sign-in or `session`. False before,
   * and after a refusal or `logout`.
   */
  bool has(const std::string &feature) const;

  /**
   * A variable of the signed-in user or the app, by the last answers; before the sign-in a public one. Nothing if there is none
   * of that name.
   */
  std::optional<std::string> variable(const std::string &name) const;

  /**
   * The request of a machine that is never online, a text of about 150 characters for the vendor. Calling it again with the
   * same key returns the same request until a file has answered it. Sends nothing; needs the option `storage`.
   */
  std::string offlineRequest(const std::string &licenseKey);

  /**
   * Accepts the vendor's file for the last `offlineRequest`. From then on `session` and `license` answer from it while the
   * server is not reached. Throws `UsageError` (`activation_rejected`) for any other file. Sends nothing.
   */
  Result<UserData> activateOffline(const std::string &file);

  /**
   * Forgets the activation of this machine and returns the code with which the vendor frees the device. Throws `UsageError`
   * (`no_activation`) without one. Sends nothing.
   */
  std::string deactivateOffline();

 private:
  using Time = detail::Clock::time_point;
  /** Asks the server until a time. */
  using Online = std::function<Json(Time)>;

  struct Limits {
    /** When the call ends. */
    Time until;
    detail::IsCurrent isCurrent;
  };

  /** A result, and the session that it belongs to; a refusal to open one has none. */
  struct Answered {
    Json result;
    std::string session;
  };

  /** A renewal of the lease that failed. */
  struct FailedRenewal {
    std::string userId;
    detail::Clock::time_point pausedUntil;
  };

  /** A call that was granted waits no longer for its lease. */
  static constexpr std::chrono::seconds longestRenewal{5};
  static constexpr std::chrono::seconds pauseAfterFailure{60};
  /** How long a call waits for the server if what is stored could answer. */
  static constexpr std::chrono::seconds patience{3};

  Time deadline() const;

  static Result<UserData> toUserResult(Json json) { return detail::toResult<UserData>(std::move(json)); }

  static bool isSignedOut(const Json &result);

  static void setOptional(Json &body, const char *name, const std::optional<std::string> &value);

  static std::string rejection(const std::string &problem);

  std::optional<std::string> currentSession() const;

  /** Whether a call has signed in, in a session that no answer has ended. */
  bool hasUser() const;

  void forgetUser();

  /** Whether no sign-out has begun since now: ask for it before anything else of a call. */
  detail::IsCurrent untilSignOut() const;

  /** The result of a sign-in or `session` that was granted only after the user had signed out. */
  static Json overtaken();

  /** Signs the user of an answer in, unless a sign-out has overtaken the answer. */
  bool signInIfCurrent(const Json &user, const detail::IsCurrent &isCurrent, bool isKnown = false);

  void rememberKey(const std::optional<std::string> &licenseKey);

  Json signIn(const detail::Call &attempt, const Limits &limits,
              const std::optional<std::string> &licenseKey = std::nullopt);

  void rememberKeyIfCurrent(const std::optional<std::string> &licenseKey, const detail::IsCurrent &isCurrent);

  /** Whether the user may go on; signs in again with a remembered sign-in or the key that signed in. */
  Json check(const Limits &limits);

  /** Signs in with the key of the last sign-in; nothing if that was none by key. Concurrent calls share it. */
  std::optional<Json> signInByKey(const Limits &limits);

  /** Null if the key must not be used again. */
  Json signInBy(const std::string &licenseKey, const Limits &limits);

  void forgetKey(const std::string &licenseKey);

  bool isUnused(const std::string &licenseKey, Time until);

  detail::Call toValidation(const std::string &licenseKey, bool activate = false);

  Answered open(Time until);

  /** The session that a call uses to its end, even if it is ended meanwhile. Concurrent calls share one `init`. */
  Answered opened(Time until);

  /** A call that signs in or needs a session; opens a new one and repeats the call if it has ended. */
  Answered call(detail::Call call, const Limits &limits, bool reopen = true);

  void endSession(const std::optional<std::string> &session);

  /** A call of the signed-in user; without one it is `sessionUnauthed`. */
  Json signedIn(detail::Call call, const char *required);

  /** Renews the lease after a success, and forgets it after a refusal that would hold offline, too. */
  Json kept(const std::function<Answered()> &online, const Limits &limits,
            const std::optional<std::string> &licenseKey = std::nullopt);

  /** Stores the token of a remembered sign-in, which programs never see, unless the user has signed out meanwhile. */
  Json keepToken(Json result, const detail::IsCurrent &isCurrent);

  /** Concurrent calls share one sign-in, because each replaces the token. */
  std::optional<Answered> resumeOnce(const Limits &limits);

  /** Signs in with the remembered sign-in; nothing without one, or if the server has ended it. */
  std::optional<Answered> resume(const Limits &limits);

  /** Never fails the call that was granted. */
  void renewLease(const std::string &hwid, const Json &user, const std::optional<std::string> &licenseKey,
                  const std::string &session, const Limits &limits);

  /** Not soon after a failure, which would delay every call. */
  bool isRenewalDue(const std::string &hwid, const std::string &userId);

  void setFailedRenewal(std::optional<FailedRenewal> failed);

  /**
   * Answers from the lease or the activation if the server is not reached. If they could answer, the server gets a few
   * seconds, and after a network error it is asked in the background for a while.
   */
  Json orOffline(const char *name, const Online &online, const detail::IsCurrent &isCurrent,
                 const std::optional<std::string> &licenseKey = std::nullopt);

  /** Answers from the activation of this machine; nothing if there is none that helps. */
  std::optional<Json> activated(const detail::IsCurrent &isCurrent);

  /** Keeps what the server said about the same user in this run: only the lease's own variables outlive it. */
  Json answerOffline(const detail::OfflineAnswer &answer, const detail::IsCurrent &isCurrent);

  /** The hardware id for a call of a machine that is never online. */
  std::string offlineMachine(const std::string &name);

  void addSignInFacts(Json &body);

  /** Adds the hardware id, and the description of the machine beside it. */
  void addMachine(Json &body);

  /** Nothing if the program sends none. Concurrent calls determine it once. */
  std::optional<std::string> findHwid();

  const detail::Checked checked_;
  detail::Transport transport_;
  mutable std::mutex mutex_;
  std::optional<std::string> session_;
  Json user_;
  /** By the last answer of the server, for the time without it. */
  Json known_;
  Json public_;
  /** The license key that signed in. */
  std::optional<std::string> key_;
  std::mutex machineMutex_;
  std::optional<std::string> hwid_;
  std::optional<Json> device_;
  std::atomic<int> signOuts_{0};
  std::optional<FailedRenewal> failedRenewal_;
  detail::Shared<Answered> opening_;
  detail::Shared<Answered> resuming_;
  detail::Shared<Json> signingIn_;
  // Last: its thread uses the others.
  detail::Away away_;
};

}  // namespace keyward

// arguments.hpp

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

// device.hpp

namespace keyward::detail {

inline std::string hashPart(const std::string &appId, const std::string &name, const std::string &value) {
  return toHex(hmacSha256("keyward-part-v1:" + appId + ":" + name, value));
}

inline std::string lowestBurnedIn(const std::vector<std::string> &macs) {
  std::string lowest;
  for (const std::string &each : macs) {
    const std::string mac = lowerAscii(each);
    if (isBurnedIn(mac) && !isPlaceholder(mac) && (lowest.empty() || mac < lowest)) lowest = mac;
  }
  return lowest;
}

/**
 * The name, the system and salted hashes of parts of this machine, so that the server recognizes it when its hardware id
 * changes. What cannot be read is left out. Serial numbers never leave the machine unhashed.
 */
inline Json describeDevice(const std::string &appId, const Machine &machine) {
  const auto firstOf = [](const auto &ask, std::initializer_list<const char *> names) -> std::string {
    for (const char *name : names) {
      try {
        std::string value = trim(toValidUtf8(ask(name)));
        if (!value.empty()) return value;
      } catch (const SourceError &) {
        // This user may not read it.
      }
    }
    return "";
  };
  std::vector<std::pair<std::string, std::string>> values = {{"network", lowestBurnedIn(machine.macs)}};
  if (machine.platform == "linux") {
    values.emplace_back("machine", firstOf(machine.read, {"/etc/machine-id", "/var/lib/dbus/machine-id"}));
    values.emplace_back("board", firstOf(machine.read, {"/sys/class/dmi/id/product_uuid", "/sys/class/dmi/id/board_serial",
                                                        "/sys/firmware/devicetree/base/serial-number"}));
    values.emplace_back("disk", firstOf(machine.read, {"/sys/block/nvme0n1/device/serial", "/sys/block/sda/device/wwid",
                                                       "/sys/block/vda/serial", "/sys/block/mmcblk0/device/cid"}));
  } else if (machine.platform == "darwin" || machine.platform == "win32") {
    for (const char *name : {"machine", "board", "disk"}) values.emplace_back(name, firstOf(machine.property, {name}));
  } else {
    values.emplace_back("machine", firstOf(machine.read, {"/etc/hostid"}));
  }
  Json parts = Json::object();
  for (const auto &[name, value] : values) {
    const std::string part = toLower(trim(value));
    if (!isPlaceholder(part)) parts.set(name, hashPart(appId, name, part));
  }
  return Json::object()
      .set("name", cutUtf16(machine.hostname, 256))
      .set("system", cutUtf16(machine.system, 256))
      .set("parts", parts);
}

}  // namespace keyward::detail

// machine_windows.hpp

#ifdef _WIN32

namespace keyward::detail {

inline std::optional<std::string> readRegistry(HKEY root, const wchar_t *path, const wchar_t *name) {
  HKEY key = nullptr;
  const LSTATUS opened = RegOpenKeyExW(root, path, 0, KEY_QUERY_VALUE | KEY_WOW64_64KEY, &key);
  if (opened == ERROR_FILE_NOT_FOUND || opened == ERROR_ACCESS_DENIED) return std::nullopt;
  if (opened != ERROR_SUCCESS) throw SourceError("The registry cannot be read");
  std::array<wchar_t, 1024> value{};
  DWORD type = 0;
  auto size = static_cast<DWORD>((value.size() - 1) * sizeof(wchar_t));
  const LSTATUS read =
      RegQueryValueExW(key, name, nullptr, &type, reinterpret_cast<LPBYTE>(value.data()), &size);
  RegCloseKey(key);
  if (read == ERROR_FILE_NOT_FOUND || read == ERROR_ACCESS_DENIED) return std::nullopt;
  if (read != ERROR_SUCCESS) throw SourceError("The registry cannot be read");
  if (type != REG_SZ) return std::nullopt;
  return fromWide(std::wstring(value.data()));
}

/** The first `SerialNumber` below a key, in the order of the registry. */
inline std::optional<std::string> findSerialNumber(const std::wstring &path, int depth = 0) {
  std::optional<std::string> own = readRegistry(HKEY_LOCAL_MACHINE, path.c_str(), L"SerialNumber");
  if (own && !trim(*own).empty()) return own;
  HKEY key = nullptr;
  if (depth > 8 || RegOpenKeyExW(HKEY_LOCAL_MACHINE, path.c_str(), 0, KEY_ENUMERATE_SUB_KEYS, &key) != ERROR_SUCCESS)
    return std::nullopt;
  std::vector<std::wstring> names;
  for (DWORD index = 0; index < 256; index++) {
    std::array<wchar_t, 256> name{};
    auto size = static_cast<DWORD>(name.size());
    if (RegEnumKeyExW(key, index, name.data(), &size, nullptr, nullptr, nullptr, nullptr) != ERROR_SUCCESS) break;
    names.emplace_back(name.data(), size);
  }
  RegCloseKey(key);
  for (const std::wstring &name : names)
    if (std::optional<std::string> found = findSerialNumber(path + L"\\" + name, depth + 1)) return found;
  return std::nullopt;
}

inline std::string readProperty(const std::string &name) {
  std::optional<std::string> value;
  if (name == "machine")
    value = readRegistry(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid");
  else if (name == "board")
    value = readRegistry(HKEY_LOCAL_MACHINE, L"SYSTEM\\HardwareConfig", L"LastConfig");
  else
    value = findSerialNumber(L"HARDWARE\\DEVICEMAP\\Scsi");
  if (!value) throw SourceError("The registry has no such value", true);
  return *value;
}

inline std::vector<std::string> findMacs() {
  const ULONG flags = GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER;
  ULONG size = 32768;
  std::vector<unsigned char> buffer;
  ULONG result = ERROR_BUFFER_OVERFLOW;
  for (int attempt = 0; attempt < 4 && result == ERROR_BUFFER_OVERFLOW; attempt++) {
    buffer.resize(size);
    result = GetAdaptersAddresses(AF_UNSPEC, flags, nullptr,
                                  reinterpret_cast<PIP_ADAPTER_ADDRESSES>(buffer.data()), &size);
  }
  std::vector<std::string> macs;
  if (result != ERROR_SUCCESS) return macs;
  for (const auto *one = reinterpret_cast<const IP_ADAPTER_ADDRESSES *>(buffer.data()); one; one = one->Next) {
    if (one->OperStatus != IfOperStatusUp || !one->FirstUnicastAddress || one->IfType == IF_TYPE_SOFTWARE_LOOPBACK)
      continue;
    if (one->PhysicalAddressLength == 6) macs.push_back(toMac(one->PhysicalAddress));
  }
  return macs;
}

inline Machine thisMachine() {
  Machine machine;
  machine.platform = "win32";
  std::array<wchar_t, 256> name{};
  auto size = static_cast<DWORD>(name.size());
  if (GetComputerNameExW(ComputerNameDnsHostname, name.data(), &size))
    machine.hostname = fromWide(std::wstring_view(name.data(), size));
  try {
    machine.system = readRegistry(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", L"ProductName")
                         .value_or("Windows");
  } catch (const SourceError &) {
    machine.system = "Windows";
  }
  machine.macs = findMacs();
  machine.read = readWholeFile;
  machine.property = readProperty;
  return machine;
}

}  // namespace keyward::detail

#endif

// machine_posix.hpp

#ifndef _WIN32

namespace keyward::detail {

inline char **environmentBlock() {
#ifdef __APPLE__
  return *_NSGetEnviron();
#else
  return environ;
#endif
}

/** Runs a program of the system and returns what it prints; throws if it fails or takes longer than five seconds. */
inline std::string runProgram(const std::string &file, const std::vector<std::string> &args) {
  int ends[2];
  if (::pipe(ends) != 0) throw SourceError("No pipe for " + file);
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  for (const int each : ends) ::fcntl(each, F_SETFD, FD_CLOEXEC);
  std::vector<char *> argv{const_cast<char *>(file.c_str())};
  for (const std::string &arg : args) argv.push_back(const_cast<char *>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, file.c_str(), &actions, nullptr, argv.data(), environmentBlock());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw SourceError(file + " cannot be started", isAbsentError(failed));
  writing.close();
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(5);
  std::string text;
  bool isComplete = false;
  std::array<char, 16384> buffer;
  while (!isComplete && text.size() <= maxFileBytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{reading.get(), POLLIN, 0};
    const int ready = left > 0 ? ::poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const ssize_t count = readSome(reading.get(), buffer.data(), buffer.size());
    if (count < 0) break;
    isComplete = count == 0;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  if (!isComplete) ::kill(child, SIGKILL);
  int status = 0;
  pid_t ended = -1;
  do ended = ::waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  const bool isGood = ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (!isComplete || !isGood) throw SourceError(file + " failed");
  return text;
}

/** The value of a property that `ioreg` prints as `"name" = "value"`. */
inline std::string findIoregValue(const std::string &text, const std::string &name) {
  const std::string start = "\"" + name + "\" = \"";
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    const std::size_t from = at + start.size();
    const std::size_t end = text.find('"', from);
    if (end != std::string::npos && end > from) return text.substr(from, end - from);
  }
  return "";
}

inline std::string readProperty(const std::string &name) {
  const std::string device = name == "disk" ? "IONVMeController" : "IOPlatformExpertDevice";
  const std::string text = runProgram("/usr/sbin/ioreg", {"-rd1", "-c", device});
  return findIoregValue(text, name == "disk"      ? "Serial Number"
                              : name == "machine" ? "IOPlatformUUID"
                                                  : "IOPlatformSerialNumber");
}

/** The addresses of the cards that are up and have an IP address, without loopback. */
inline std::vector<std::string> findMacs() {
  ifaddrs *list = nullptr;
  std::vector<std::string> macs;
  if (::getifaddrs(&list) != 0) return macs;
  const auto isUp = [](const ifaddrs *one) {
    return one->ifa_addr && (one->ifa_flags & IFF_UP) && (one->ifa_flags & IFF_RUNNING) &&
           !(one->ifa_flags & IFF_LOOPBACK);
  };
  std::set<std::string> cards;
  for (const ifaddrs *one = list; one; one = one->ifa_next) {
    if (!isUp(one) || (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6)) continue;
    const std::string name = one->ifa_name;
    // An alias such as eth0:1 has the address of its card.
    cards.insert(name.substr(0, name.find(':')));
  }
  for (const ifaddrs *one = list; one; one = one->ifa_next) {
    if (!isUp(one) || cards.count(one->ifa_name) == 0) continue;
#ifdef __linux__
    if (one->ifa_addr->sa_family != AF_PACKET) continue;
    sockaddr_ll link;
    std::memcpy(&link, one->ifa_addr, sizeof link);
    if (link.sll_halen == 6) macs.push_back(toMac(link.sll_addr));
#else
    if (one->ifa_addr->sa_family != AF_LINK) continue;
    const auto *link = reinterpret_cast<const sockaddr_dl *>(one->ifa_addr);
    if (link->sdl_alen == 6) macs.push_back(toMac(reinterpret_cast<const unsigned char *>(LLADDR(link))));
#endif
  }
  ::freeifaddrs(list);
  return macs;
}

inline Machine thisMachine() {
  Machine machine;
#if defined(__linux__)
  machine.platform = "linux";
#elif defined(__APPLE__)
  machine.platform = "darwin";
#else
  machine.platform = "other";
#endif
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) machine.hostname = toValidUtf8(name.data());
  utsname system{};
  if (::uname(&system) >= 0) machine.system = toValidUtf8(std::string(system.sysname) + " " + system.release);
  machine.macs = findMacs();
  machine.read = readWholeFile;
  machine.property = readProperty;
  return machine;
}

}  // namespace keyward::detail

#endif

// client_machine.hpp

namespace keyward {

inline void Client::setOptional(Json &body, const char *name, const std::optional<std::string> &value) {
  if (!value) return;
  detail::checkArgument(name, *value);
  body.set(name, *value);
}

inline void Client::addSignInFacts(Json &body) {
  addMachine(body);
  if (checked_.offline && body.find("hwid")) body.set("remember", true);
}

inline void Client::addMachine(Json &body) {
  const std::optional<std::string> hwid = findHwid();
  if (!hwid) return;
  body.set("hwid", *hwid);
  if (!checked_.sendsDevice) return;
  const std::lock_guard<std::mutex> lock(machineMutex_);
  if (!device_) device_ = detail::describeDevice(checked_.options.appId, detail::thisMachine());
  body.set("device", *device_);
}

inline std::optional<std::string> Client::findHwid() {
  const HwidOption &option = checked_.options.hwid;
  if (option.isNone) return std::nullopt;
  const std::lock_guard<std::mutex> lock(machineMutex_);
  if (hwid_) return hwid_;
  std::string found;
  if (option.function) {
    try {
      found = option.function();
    } catch (const std::exception &error) {
      throw UsageError("hwid_unavailable", std::string("The function hwid failed: ") + error.what());
    } catch (...) {
      throw UsageError("hwid_unavailable", "The function hwid failed");
    }
  } else {
    found = option.text ? *option.text : detail::defaultHwid(checked_.options.appId, detail::thisMachine());
  }
  if (found.empty() || detail::utf16Length(found) > 256 || !detail::isValidUtf8(found))
    throw detail::wrongOption("hwid must give a text of 1 to 256 characters");
  hwid_ = found;
  return hwid_;
}

}  // namespace keyward

// granted.hpp

namespace keyward::detail {

inline NetworkError unexpected(const std::string &what) {
  return NetworkError("unexpected_answer", "The answer to " + what + " is incomplete", true);
}

/** A success in the form of the result; `required` is a member that it must have. */
inline Json granted(const Outcome &outcome, const char *required) {
  Json result = outcome.data;
  if (required && !result[required].isObject() && !result[required].isArray()) throw unexpected(required);
  if (outcome.message) result.set("message", *outcome.message);
  // Last: no field of a response may override the verdict.
  result.set("ok", true);
  return result;
}

}  // namespace keyward::detail

// client_session.hpp

namespace keyward {

inline Client::Time Client::deadline() const {
  return detail::Clock::now() + std::chrono::milliseconds(checked_.options.timeoutMs);
}

inline bool Client::isSignedOut(const Json &result) {
  return !result["ok"].isTrue() && result["code"].string() == "sessionUnauthed";
}

inline std::optional<std::string> Client::currentSession() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return session_;
}

inline bool Client::hasUser() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return session_ && !user_.isNull();
}

inline void Client::forgetUser() {
  const std::lock_guard<std::mutex> lock(mutex_);
  user_ = Json();
}

inline detail::IsCurrent Client::untilSignOut() const {
  return [this, signOuts = signOuts_.load()] { return signOuts == signOuts_; };
}

inline Json Client::overtaken() {
  return Json::object()
      .set("ok", false)
      .set("code", "sessionUnauthed")
      .set("message", "The user signed out before this call was finished");
}

inline bool Client::signInIfCurrent(const Json &user, const detail::IsCurrent &isCurrent, bool isKnown) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!isCurrent()) return false;
  user_ = user;
  if (isKnown) known_ = user;
  return true;
}

inline Client::Answered Client::open(Time until) {
  const Options &options = checked_.options;
  Json body = Json::object();
  body.set("appId", options.appId).set("secret", options.secret).set("version", options.version).set("sdk", sdk);
  if (options.hash) body.set("hash", *options.hash);
  if (options.locale) body.set("locale", *options.locale);
  if (const auto hwid = findHwid()) body.set("hwid", *hwid);
  detail::Outcome outcome = transport_.send({"POST", "init", body, {}, true}, until);
  if (!outcome.ok) {
    forgetUser();
    return {outcome.refused, ""};
  }
  const std::string session = outcome.data["session"].string();
  const bool isGood = !session.empty() && session.size() <= 1024 &&
                      std::all_of(session.begin(), session.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!isGood) throw detail::unexpected("init");
  outcome.data.erase("session");
  Json opened = detail::granted(outcome, "app");
  const std::lock_guard<std::mutex> lock(mutex_);
  session_ = session;
  user_ = Json();
  public_ = opened["variables"];
  return {opened, session};
}

inline Client::Answered Client::opened(Time until) {
  if (const std::optional<std::string> session = currentSession()) return {Json(), *session};
  return opening_.run(until, [&] { return open(until); });
}

inline Client::Answered Client::call(detail::Call call, const Limits &limits, bool reopen) {
  const detail::IsCurrent &isCurrent = limits.isCurrent;
  for (;;) {
    if (!isCurrent()) return {overtaken(), ""};
    const Answered opening = opened(limits.until);
    const std::string &session = opening.session;
    if (session.empty()) return opening;
    // Sent now, it would sign in the user who has signed out meanwhile.
    if (!isCurrent()) return {overtaken(), ""};
    call.session = session;
    const detail::Outcome outcome = transport_.send(call, limits.until);
    if (outcome.ok) {
      const Json result = detail::granted(outcome, "user");
      // An upgrade may concern another user than the signed-in one.
      if (call.name == "upgrade" || signInIfCurrent(result["user"], isCurrent, true)) return {result, session};
      endSession(session);
      return {overtaken(), ""};
    }
    const bool isUnauthed = outcome.refused["code"].string() == "sessionUnauthed";
    // A refusal ends what the license included, until the next success.
    if (call.name == "session") signInIfCurrent(Json(), isCurrent);
    if (isUnauthed) endSession(session);
    if (!isUnauthed || !reopen || !isCurrent()) return {outcome.refused, session};
    reopen = false;
  }
}

inline void Client::endSession(const std::optional<std::string> &session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (session_ == session) session_.reset();
}

inline Json Client::signedIn(detail::Call call, const char *required) {
  const Time until = deadline();
  const Answered opening = opened(until);
  if (opening.session.empty()) return opening.result;
  call.session = opening.session;
  const detail::Outcome outcome = transport_.send(call, until);
  return outcome.ok ? detail::granted(outcome, required) : outcome.refused;
}

}  // namespace keyward

// client_sign_in.hpp

namespace keyward {

inline void Client::rememberKey(const std::optional<std::string> &licenseKey) {
  const std::lock_guard<std::mutex> lock(mutex_);
  key_ = licenseKey;
}

inline Json Client::signIn(const detail::Call &attempt, const Limits &limits,
            const std::optional<std::string> &licenseKey) {
  const Json result = kept([&] { return call(attempt, limits); }, limits, licenseKey);
  if (result["ok"].isTrue()) rememberKeyIfCurrent(licenseKey, limits.isCurrent);
  return result;
}

inline void Client::rememberKeyIfCurrent(const std::optional<std::string> &licenseKey, const detail::IsCurrent &isCurrent) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (isCurrent()) key_ = licenseKey;
}

inline Json Client::check(const Limits &limits) {
  const auto online = [&]() -> Answered {
    for (;;) {
      if (!currentSession())
        if (const std::optional<Answered> resumed = resumeOnce(limits)) return *resumed;
      const Answered answered = call({"GET", "session", {}, {}, true}, limits, false);
      if (!isSignedOut(answered.result)) return answered;
      if (!currentSession())
        if (const std::optional<Answered> resumed = resumeOnce(limits)) return *resumed;
      // Another call may have opened a session meanwhile, which may have a user.
      if (!currentSession() || !limits.isCurrent()) return answered;
    }
  };
  const Json result = kept(online, limits);
  if (!isSignedOut(result) || !limits.isCurrent()) return result;
  if (const std::optional<Json> signedIn = signInByKey(limits)) return *signedIn;
  return activated(limits.isCurrent).value_or(result);
}

inline std::optional<Json> Client::signInByKey(const Limits &limits) {
  std::optional<std::string> licenseKey;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    licenseKey = key_;
  }
  if (!licenseKey) return std::nullopt;
  const Json result = signingIn_.run(limits.until, [&] { return signInBy(*licenseKey, limits); });
  return result.isNull() ? std::nullopt : std::optional<Json>(result);
}

inline Json Client::signInBy(const std::string &licenseKey, const Limits &limits) {
  // Another call has signed in since this one was refused.
  if (hasUser()) {
    const Json result = kept([&] { return call({"GET", "session", {}, {}, true}, limits, false); }, limits);
    if (!isSignedOut(result)) return result;
  }
  // A vendor who deleted the user has freed the key for somebody else.
  const bool isFreed = isUnused(licenseKey, limits.until);
  if (isFreed) forgetKey(licenseKey);
  if (isFreed || !limits.isCurrent()) return Json();
  Json body = Json::object();
  body.set("licenseKey", licenseKey);
  addSignInFacts(body);
  const Json result = signIn({"POST", "license", body, {}, true}, limits, licenseKey);
  if (result["code"].string() == "keyNotFound") forgetKey(licenseKey);
  return result;
}

inline void Client::forgetKey(const std::string &licenseKey) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (key_ == licenseKey) key_.reset();
}

inline bool Client::isUnused(const std::string &licenseKey, Time until) {
  const detail::Outcome outcome = transport_.send(toValidation(licenseKey), until);
  if (!outcome.ok || !outcome.data["valid"].isTrue()) return false;
  return !detail::granted(outcome, "license")["license"]["used"].isTrue();
}

inline Json Client::keepToken(Json result, const detail::IsCurrent &isCurrent) {
  const Json token = result["deviceToken"];
  result.erase("deviceToken");
  if (token.isString()) checked_.offline->keepDeviceToken(token.string(), isCurrent);
  return result;
}

inline std::optional<Client::Answered> Client::resumeOnce(const Limits &limits) {
  if (!checked_.offline) return std::nullopt;
  const Answered resumed = resuming_.run(limits.until, [&] { return resume(limits).value_or(Answered()); });
  return resumed.result.isNull() ? std::nullopt : std::optional<Answered>(resumed);
}

inline std::optional<Client::Answered> Client::resume(const Limits &limits) {
  const std::optional<std::string> deviceToken = checked_.offline->deviceToken();
  if (!deviceToken) return std::nullopt;
  Json body = Json::object();
  body.set("deviceToken", *deviceToken);
  addMachine(body);
  if (!body.find("hwid")) return std::nullopt;
  // The server accepts the same token again if its answer was lost.
  const Answered resumed = call({"POST", "resume", body, {}, true}, limits, false);
  if (resumed.result["ok"].isTrue()) return Answered{keepToken(resumed.result, limits.isCurrent), resumed.session};
  if (!isSignedOut(resumed.result)) return resumed;
  checked_.offline->dropDeviceToken(*deviceToken);
  return std::nullopt;
}

}  // namespace keyward

// activation_request.hpp

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

// lease_endings.hpp

// Written by packages/sdk/generate.ts from the contract.
namespace keyward::detail {

/** Refusals of the user, the key or the device; mistyped input is not one. */
inline bool endsLease(const std::string &code) {
  static const std::set<std::string> &codes = *new std::set<std::string>{
      "userBanned",
      "keyBanned",
      "pausedSub",
      "noActiveSubs",
      "updatesEnded",
      "hwidBlacklisted",
      "hwidMismatch",
      "notActivated",
      "trialUsed",
  };
  return codes.count(code) > 0;
}

}  // namespace keyward::detail

// client_offline.hpp

namespace keyward {

inline std::string Client::offlineRequest(const std::string &licenseKey) {
  const std::string key = detail::toKey(licenseKey);
  const std::size_t length = detail::countCharacters(key);
  if (length < 1 || length > 100) throw UsageError("invalid_argument", "licenseKey must have 1 to 100 characters");
  const std::string hwid = offlineMachine("offlineRequest");
  const std::string nonce = checked_.offline->requestNonce(key);
  return detail::encodeRequest(checked_.options.appId, hwid, key, detail::fromHex(nonce).value_or(""));
}

inline Result<UserData> Client::activateOffline(const std::string &file) {
  const detail::IsCurrent isCurrent = untilSignOut();
  const std::string hwid = offlineMachine("activateOffline");
  const detail::OfflineOutcome outcome = checked_.offline->activate(file, hwid);
  if (!outcome.answer) throw UsageError("activation_rejected", rejection(outcome.problem));
  return toUserResult(answerOffline(*outcome.answer, isCurrent));
}

inline std::string Client::deactivateOffline() {
  const std::string hwid = offlineMachine("deactivateOffline");
  const std::optional<std::string> code = checked_.offline->deactivate(hwid);
  if (!code) throw UsageError("no_activation", "This machine has no activation");
  forgetUser();
  return *code;
}

inline std::string Client::rejection(const std::string &problem) {
  if (problem == "other_request") return "The file does not answer the last request of this machine";
  if (problem == "lease_ended") return "The file has ended";
  if (problem == "clock_set_back") return "The clock of this machine is behind: correct it and try again";
  return "The file is damaged, or made for another app or another machine";
}

inline Json Client::kept(const std::function<Answered()> &online, const Limits &limits,
          const std::optional<std::string> &licenseKey) {
  const detail::IsCurrent &isCurrent = limits.isCurrent;
  const Answered answered = online();
  away_.end();
  const Json &result = answered.result;
  const bool isGranted = result["ok"].isTrue();
  if (!isCurrent()) return isGranted ? overtaken() : result;
  const bool hasEnded = !isGranted && detail::endsLease(result["code"].string());
  if (hasEnded) signInIfCurrent(Json(), isCurrent, true);
  if (!checked_.offline) return result;
  const std::optional<std::string> hwid = findHwid();
  if (const std::optional<double> time = transport_.serverTime()) checked_.offline->correctTime(*time, hwid);
  if (!hwid) return result;
  if (!isGranted) {
    if (hasEnded) checked_.offline->forgetLease(isCurrent);
    return result;
  }
  const Json shown = keepToken(result, isCurrent);
  renewLease(*hwid, shown["user"], licenseKey, answered.session, limits);
  return isCurrent() ? shown : overtaken();
}

inline void Client::renewLease(const std::string &hwid, const Json &user, const std::optional<std::string> &licenseKey,
                const std::string &session, const Limits &limits) {
  const std::string userId = user["_id"].string();
  if (!limits.isCurrent() || !(licenseKey || isRenewalDue(hwid, userId))) return;
  setFailedRenewal(FailedRenewal{userId, detail::Clock::now() + pauseAfterFailure});
  try {
    const detail::Outcome outcome =
        transport_.send({"POST", "lease", Json::object().set("hwid", hwid), session, true},
                        (std::min)(limits.until, detail::Clock::now() + longestRenewal));
    const Json &lease = outcome.data["lease"];
    if (!outcome.ok || !lease.isString()) return;
    setFailedRenewal(std::nullopt);
    checked_.offline->keep(lease.string(), hwid, user, licenseKey, limits.isCurrent);
  } catch (const Error &) {
    // The program may run; a later call tries again.
  }
}

inline bool Client::isRenewalDue(const std::string &hwid, const std::string &userId) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failedRenewal_ && failedRenewal_->userId == userId && detail::Clock::now() < failedRenewal_->pausedUntil)
      return false;
  }
  return checked_.offline->isDue(hwid, userId);
}

inline void Client::setFailedRenewal(std::optional<FailedRenewal> failed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failedRenewal_ = std::move(failed);
}

inline Json Client::orOffline(const char *name, const Online &online, const detail::IsCurrent &isCurrent,
               const std::optional<std::string> &licenseKey) {
  const std::optional<std::string> hwid = checked_.offline ? findHwid() : std::nullopt;
  if (!hwid) return online(deadline());
  const auto fromStored = [&](const std::string &code, std::string &problem) -> std::optional<Json> {
    const detail::OfflineOutcome outcome = checked_.offline->answer(*hwid, licenseKey);
    problem = outcome.problem;
    if (!outcome.answer) return std::nullopt;
    LogEvent event{"offline", name};
    event.code = code;
    transport_.log(event);
    if (licenseKey) rememberKeyIfCurrent(licenseKey, isCurrent);
    const Json result = answerOffline(*outcome.answer, isCurrent);
    return isCurrent() ? result : overtaken();
  };
  const auto probe = [&] {
    if (isCurrent()) away_.probe([this, online] { online(deadline()); });
  };
  std::string problem;
  const bool canAnswer = checked_.offline->wouldAnswer(*hwid, licenseKey);
  if (const std::optional<std::string> code = canAnswer ? away_.code() : std::nullopt) {
    const std::optional<Json> answer = fromStored(*code, problem);
    probe();
    if (answer) return *answer;
  }
  try {
    return online(canAnswer ? (std::min)(deadline(), detail::Clock::now() + patience) : deadline());
  } catch (const NetworkError &error) {
    if (error.code == "unexpected_answer") throw;
    const std::optional<Json> answer = fromStored(error.code, problem);
    if (!answer) {
      NetworkError explained = error;
      explained.offline = problem;
      throw explained;
    }
    if (isCurrent()) away_.note(error);
    // The network may only be slow.
    if (error.code == "timed_out") probe();
    return *answer;
  }
}

inline std::optional<Json> Client::activated(const detail::IsCurrent &isCurrent) {
  const std::optional<std::string> hwid = checked_.offline ? findHwid() : std::nullopt;
  if (!hwid) return std::nullopt;
  const detail::OfflineOutcome outcome = checked_.offline->answerFromActivation(*hwid);
  if (!outcome.answer) return std::nullopt;
  LogEvent event{"offline", "session"};
  event.code = "sessionUnauthed";
  transport_.log(event);
  const Json result = answerOffline(*outcome.answer, isCurrent);
  return isCurrent() ? result : overtaken();
}

inline Json Client::answerOffline(const detail::OfflineAnswer &answer, const detail::IsCurrent &isCurrent) {
  Json user = answer.user;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Json variables = user["variables"];
    if (known_["_id"] == user["_id"])
      for (const Json::Member &one : known_["variables"].members()) variables.set(one.name, one.value);
    user.set("variables", variables);
  }
  signInIfCurrent(user, isCurrent);
  return Json::object().set("user", user).set("offline", answer.offline).set("ok", true);
}

inline std::string Client::offlineMachine(const std::string &name) {
  if (!checked_.offline) throw detail::wrongOption(name + " needs the option storage");
  const std::optional<std::string> hwid = findHwid();
  if (!hwid) throw UsageError("hwid_unavailable", name + " needs a hardware id");
  return *hwid;
}

}  // namespace keyward

// client_calls.hpp

namespace keyward {

inline Result<InitData> Client::init() {
  rememberKey(std::nullopt);
  away_.end();
  return detail::toResult<InitData>(open(deadline()).result);
}

inline Result<UserData> Client::register_(const Registration &registration) {
  const detail::IsCurrent isCurrent = untilSignOut();
  detail::checkArgument("username", registration.username);
  detail::checkArgument("password", registration.password);
  Json body = Json::object();
  body.set("username", registration.username)
      .set("password", registration.password)
      .set("licenseKey", detail::toKey(registration.licenseKey));
  setOptional(body, "email", registration.email);
  addSignInFacts(body);
  return toUserResult(signIn({"POST", "register", body, {}, false}, {deadline(), isCurrent}));
}

inline Result<UserData> Client::login(const Credentials &credentials) {
  const detail::IsCurrent isCurrent = untilSignOut();
  detail::checkArgument("username", credentials.username);
  detail::checkArgument("password", credentials.password);
  Json body = Json::object();
  body.set("username", credentials.username).set("password", credentials.password);
  addSignInFacts(body);
  return toUserResult(signIn({"POST", "login", body, {}, true}, {deadline(), isCurrent}));
}

inline Result<UserData> Client::license(const std::string &licenseKey) {
  const detail::IsCurrent isCurrent = untilSignOut();
  const std::string key = detail::toKey(licenseKey);
  Json body = Json::object();
  body.set("licenseKey", key);
  addSignInFacts(body);
  const Online online = [this, body, isCurrent, key](Time until) {
    return signIn({"POST", "license", body, {}, true}, {until, isCurrent}, key);
  };
  return toUserResult(orOffline("license", online, isCurrent, key));
}

inline Result<UserData> Client::upgrade(const Upgrade &upgrade) {
  detail::checkArgument("username", upgrade.username);
  Json body = Json::object();
  body.set("username", upgrade.username).set("licenseKey", detail::toKey(upgrade.licenseKey));
  return toUserResult(call({"POST", "upgrade", body, {}, false}, {deadline(), [] { return true; }}).result);
}

inline Result<UserData> Client::session() {
  const detail::IsCurrent isCurrent = untilSignOut();
  const Online online = [this, isCurrent](Time until) { return check({until, isCurrent}); };
  return toUserResult(orOffline("session", online, isCurrent));
}

inline Result<Nothing> Client::logout() {
  std::optional<std::string> session;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    signOuts_++;
    session = std::exchange(session_, std::nullopt);
    user_ = known_ = Json();
    key_.reset();
  }
  away_.end();
  if (checked_.offline) checked_.offline->forget();
  Json result = Json::object().set("ok", true);
  if (!session) return detail::toResult<Nothing>(result);
  const detail::Outcome outcome = transport_.send({"POST", "logout", {}, session, true}, deadline());
  // The session has already ended, which is what the caller wants.
  if (!outcome.ok && outcome.refused["code"].string() != "sessionUnauthed") return detail::toResult<Nothing>(outcome.refused);
  if (outcome.ok && outcome.message && !outcome.message->empty()) result.set("message", *outcome.message);
  return detail::toResult<Nothing>(result);
}

inline Result<UserData> Client::trial(const Trial &trial) {
  const detail::IsCurrent isCurrent = untilSignOut();
  Json body = Json::object();
  setOptional(body, "type", trial.type);
  setOptional(body, "email", trial.email);
  addMachine(body);
  return toUserResult(signIn({"POST", "trial", body, {}, true}, {deadline(), isCurrent}));
}

inline Result<DevicesData> Client::devices() {
  return detail::toResult<DevicesData>(signedIn({"GET", "devices", {}, {}, true}, "devices"));
}

inline Result<Nothing> Client::freeDevice(const std::string &deviceId) {
  detail::checkArgument("deviceId", deviceId);
  // Addresses drop `.` and `..`, so they would name another call.
  if (deviceId.empty() || deviceId == "." || deviceId == "..")
    throw UsageError("invalid_argument", "deviceId must be a text that can be part of an address");
  return detail::toResult<Nothing>(
      signedIn({"DELETE", "devices/" + detail::encodePathSegment(deviceId), {}, {}, false}, nullptr));
}

inline Result<ValidateData> Client::validate(const std::string &licenseKey, const ValidateOptions &options) {
  const detail::Call validation = toValidation(detail::toKey(licenseKey), options.activate);
  const detail::Outcome outcome = transport_.send(validation, deadline());
  if (!outcome.ok) return detail::toResult<ValidateData>(outcome.refused);
  const Json &data = outcome.data;
  if (data["valid"].isTrue()) return detail::toResult<ValidateData>(detail::granted(outcome, "license"));
  if (!data["valid"].isFalse() || !data["code"].isString()) throw detail::unexpected("validate");
  const std::string &code = data["code"].string();
  Json refused = Json::object();
  refused.set("ok", false).set("code", code).set("message", outcome.message.value_or(code));
  detail::copyRefusalFacts(data, refused);
  return detail::toResult<ValidateData>(refused);
}

inline bool Client::has(const std::string &feature) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Json &one : user_["features"].items())
    if (one.isString() && one.string() == feature) return true;
  return false;
}

inline std::optional<std::string> Client::variable(const std::string &name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Json *own = user_["variables"].find(name);
  return own ? own->text() : public_[name].text();
}

inline detail::Call Client::toValidation(const std::string &licenseKey, bool activate) {
  Json body = Json::object();
  body.set("appId", checked_.options.appId).set("licenseKey", licenseKey);
  addMachine(body);
  if (activate) body.set("activate", true);
  setOptional(body, "locale", checked_.options.locale);
  return {"POST", "validate", body, {}, true};
}

}  // namespace keyward

// offline_storage.hpp

namespace keyward::detail {

inline bool Offline::isRequest(const Json &value) {
  const std::string &nonce = value["nonce"].string();
  return nonce.size() == 16 && fromHex(nonce) && value["licenseKey"].isString();
}

inline Offline::Kept Offline::load() {
  Kept kept{Json::object()};
  try {
    const std::optional<std::string> text = storage_->read();
    if (text && !text->empty())
      if (const std::optional<Json> parsed = Json::parse(*text); parsed && parsed->isObject()) kept.all = *parsed;
  } catch (...) {
    kept.isUnreadable = true;
  }
  Json &all = kept.all;
  if (!all["lease"].isString()) all.set("lease", "");
  if (!all["latest"].isNumber()) all.set("latest", 0);
  if (!all["user"].isObject()) all.set("user", Json());
  if (!all["key"].isString()) all.set("key", Json());
  if (!all["deviceToken"].isString()) all.erase("deviceToken");
  const Json &boot = all["boot"];
  if (!boot["id"].isString() || !isTime(boot["startedAt"])) all.erase("boot");
  normalizeActivation(all);
  return kept;
}

inline void Offline::normalizeActivation(Json &all) {
  const Json kept = all["activation"];
  if (!kept.isObject()) {
    all.erase("activation");
    return;
  }
  Json clean = Json::object();
  if (kept["file"].isString() && isRequest(kept))
    clean.set("file", kept["file"]).set("nonce", kept["nonce"]).set("licenseKey", kept["licenseKey"]);
  const Json &pending = kept["pending"];
  if (isRequest(pending))
    clean.set("pending",
              Json::object().set("nonce", pending["nonce"]).set("licenseKey", pending["licenseKey"]));
  all.set("activation", clean);
}

inline void Offline::store(const Kept &kept) {
  if (kept.isUnreadable) throw UsageError("storage_failed", "The storage cannot be read. Nothing was changed.");
  try {
    storage_->write(kept.all.dump());
  } catch (...) {
    throw UsageError("storage_failed", "The storage cannot be written. Nothing was changed.");
  }
}

inline void Offline::write(const Kept &kept) {
  try {
    store(kept);
  } catch (const UsageError &) {
    // A full disk must not stop a program that is online.
  }
}

}  // namespace keyward::detail

// offline_answers.hpp

namespace keyward::detail {

inline bool Offline::wouldAnswer(const std::string &hwid, const std::optional<std::string> &licenseKey) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return find(load(), hwid, licenseKey).outcome.answer.has_value();
}

inline OfflineOutcome Offline::answer(const std::string &hwid, const std::optional<std::string> &licenseKey) {
  OfflineOutcome outcome;
  alone([&](Kept &kept) { outcome = use(kept, find(kept, hwid, licenseKey)); });
  return outcome;
}

inline OfflineOutcome Offline::answerFromActivation(const std::string &hwid) {
  OfflineOutcome outcome;
  alone([&](Kept &kept) { outcome = use(kept, findActivated(kept, hwid, std::nullopt)); });
  return outcome;
}

inline std::optional<std::string> Offline::judgeTime(const Kept &kept, const Json &statement, double end,
                                                     double tolerance, double &now) const {
  const double clock = time_.now();
  const double floor = (std::max)(time_.floor(kept.all), statement["iat"].number());
  if (clock < floor - tolerance) return "clock_set_back";
  // A clock that lags must not hold up the time that is noted: it could be set back again after every restart.
  now = (std::max)(clock, floor);
  if (now >= end) return "lease_ended";
  return std::nullopt;
}

inline Offline::Found Offline::find(const Kept &kept, const std::string &hwid, const std::optional<std::string> &licenseKey) const {
  const std::optional<std::string> key =
      licenseKey ? std::optional<std::string>(toHex(sha256(*licenseKey))) : std::nullopt;
  Found leased = findLeased(kept, hwid, key);
  if (leased.outcome.answer) return leased;
  Found activated = findActivated(kept, hwid, key);
  return activated.outcome.answer || leased.outcome.problem == "no_lease" ? activated : leased;
}

inline Offline::Found Offline::findLeased(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const {
  const std::optional<Json> lease = readLease(kept.all["lease"].string(), subject(hwid));
  if (!lease || kept.all["user"].isNull() || isOlder(*lease)) return notFound("no_lease");
  if (key && kept.all["key"].text() != key) return notFound("no_lease");
  const double end = (*lease)["graceUntil"].number();
  const bool isDaysLong = end - (*lease)["iat"].number() >= daysLongS;
  double now = 0;
  if (const auto problem = judgeTime(kept, *lease, end, isDaysLong ? timeZoneToleranceS : clockToleranceS, now))
    return notFound(*problem);
  OfflineAnswer answer{kept.all["user"], Json::object()};
  answer.user.set("_id", (*lease)["sub"])
      .set("features", (*lease)["features"])
      .set("variables", onlyTexts((*lease)["variables"]));
  answer.offline.set("until", toIso((*lease)["exp"].number()))
      .set("graceUntil", toIso((*lease)["graceUntil"].number()))
      .set("inGrace", now >= (*lease)["exp"].number());
  return {{answer, ""}, now, lease};
}

inline Offline::Found Offline::findActivated(const Kept &kept, const std::string &hwid, const std::optional<std::string> &key) const {
  const std::optional<Json> activation = keptActivation(kept, hwid);
  if (!activation || (key && kept.all["activation"]["licenseKey"].string() != *key)) return notFound("no_lease");
  const Json &exp = (*activation)["exp"];
  if (exp.isNull()) return {{toActivated(*activation, time_.now()), ""}};
  double now = 0;
  if (const auto problem = judgeTime(kept, *activation, exp.number(), timeZoneToleranceS, now)) return notFound(*problem);
  return {{toActivated(*activation, now), ""}, now};
}

inline OfflineOutcome Offline::use(Kept &kept, const Found &found) {
  if (found.lease) see(*found.lease);
  if (found.now && time_.note(kept.all, *found.now)) write(kept);
  return found.outcome;
}

inline bool Offline::isOlder(const Json &lease) const {
  const auto seen = seen_.find(lease["sub"].string());
  return seen != seen_.end() && lease["seq"].number() < seen->second;
}

inline Json Offline::onlyTexts(const Json &value) {
  Json texts = Json::object();
  for (const Json::Member &one : value.members())
    if (one.value.isString()) texts.set(one.name, one.value);
  return texts;
}

}  // namespace keyward::detail

// offline_activation.hpp

namespace keyward::detail {

inline std::string Offline::requestNonce(const std::string &licenseKey) {
  const std::string key = toHex(sha256(licenseKey));
  std::string nonce;
  alone([&](Kept &kept) {
    Json activation = kept.all["activation"].isObject() ? kept.all["activation"] : Json::object();
    nonce = activation["pending"]["nonce"].string();
    if (activation["pending"]["licenseKey"].string() == key) return;
    nonce = toHex(randomBytes(8));
    activation.set("pending", Json::object().set("nonce", nonce).set("licenseKey", key));
    kept.all.set("activation", activation);
    store(kept);
  });
  return nonce;
}

inline OfflineOutcome Offline::activate(const std::string &file, const std::string &hwid) {
  std::string line;
  const std::optional<Json> activation = findActivation(file, hwid, line);
  if (!activation) return {std::nullopt, "not_for_this_machine"};
  OfflineOutcome outcome;
  alone([&](Kept &kept) { outcome = accept(kept, *activation, line); });
  return outcome;
}

inline std::optional<std::string> Offline::deactivate(const std::string &hwid) {
  std::optional<std::string> code;
  alone([&](Kept &kept) {
    const std::optional<Json> activation = keptActivation(kept, hwid);
    if (!activation) return;
    kept.all.erase("activation");
    store(kept);
    code = (*activation)["deactivation"].string();
  });
  return code;
}

inline OfflineOutcome Offline::accept(Kept &kept, const Json &activation, const std::string &line) {
  const Json pending = kept.all["activation"]["pending"];
  if (!pending.isObject() || pending["nonce"] != activation["nonce"]) return {std::nullopt, "other_request"};
  const double now = time_.now();
  if (const Json &exp = activation["exp"]; !exp.isNull()) {
    if (now < activation["iat"].number() - timeZoneToleranceS) return {std::nullopt, "clock_set_back"};
    if (now >= exp.number()) return {std::nullopt, "lease_ended"};
  }
  // It answers a request of this machine, so that it is newer than a time that was seen: the clock was wrong.
  kept.all.set("latest", activation["iat"]);
  kept.all.erase("boot");
  kept.all.set("activation", Json(pending).set("file", line));
  store(kept);
  time_.forget();
  return {toActivated(activation, now), ""};
}

inline std::optional<Json> Offline::keptActivation(const Kept &kept, const std::string &hwid) const {
  const Json &stored = kept.all["activation"];
  if (!stored["file"].isString()) return std::nullopt;
  std::optional<Json> activation = readActivation(stored["file"].string(), subject(hwid));
  return activation && (*activation)["nonce"] == stored["nonce"] ? activation : std::nullopt;
}

inline std::optional<Json> Offline::findActivation(const std::string &file, const std::string &hwid, std::string &line) const {
  if (file.size() > longestFile) return std::nullopt;
  const auto isSpace = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const std::string text = trim(toValidUtf8(file));
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !isSpace(text[end])) end++;
    line = text.substr(at, end - at);
    if (!line.empty())
      if (std::optional<Json> found = readActivation(line, subject(hwid))) return found;
    at = end + 1;
  }
  return std::nullopt;
}

inline OfflineAnswer Offline::toActivated(const Json &activation, double now) {
  const Json &expiresAt = activation["expiresAt"];
  const Json &exp = activation["exp"];
  const bool isInGrace = expiresAt.isString() && now >= parseIso(expiresAt.string()).value_or(0);
  OfflineAnswer answer{Json::object(), Json::object()};
  answer.user.set("_id", activation["sub"])
      .set("username", activation["username"])
      .set("email", Json())
      .set("expiresAt", expiresAt)
      .set("inGrace", isInGrace)
      .set("term", activation["term"])
      .set("createdAt", toIso(activation["iat"].number()))
      .set("lastLoginAt", Json())
      .set("hwidBound", true)
      .set("features", activation["features"])
      .set("variables", Json::object())
      .set("updatesUntil", Json())
      .set("devices", Json::object().set("used", 1).set("limit", 1))
      .set("seat", Json());
  const Json until = exp.isNull() ? Json() : Json(toIso(exp.number()));
  answer.offline.set("until", until).set("graceUntil", until).set("inGrace", false);
  return answer;
}

}  // namespace keyward::detail

// offline_leases.hpp

namespace keyward::detail {

inline bool Offline::isDue(const std::string &hwid, const std::string &userId) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::optional<Json> lease = readLease(load().all["lease"].string(), subject(hwid));
  return !lease || (*lease)["sub"].string() != userId || time_.now() >= (*lease)["refreshAfter"].number();
}

inline void Offline::keep(const std::string &text, const std::string &hwid, const Json &user,
          const std::optional<std::string> &licenseKey, const IsCurrent &isCurrent) {
  const std::optional<Json> lease = readLease(text, subject(hwid));
  if (!lease) return;
  alone([&](Kept &kept) {
    if (!isCurrent()) return;
    const std::optional<Json> stored = readLease(kept.all["lease"].string(), subject(hwid));
    const bool isSameUser = stored && (*stored)["sub"] == (*lease)["sub"];
    if (isOlder(*lease) || (isSameUser && (*stored)["seq"].number() > (*lease)["seq"].number())) return;
    see(*lease);
    const Json key = licenseKey ? Json(toHex(sha256(*licenseKey))) : isSameUser ? kept.all["key"] : Json();
    kept.all.set("lease", text).set("user", user).set("key", key);
    const double iat = (*lease)["iat"].number();
    const double latest = (std::max)(kept.all["latest"].number(), iat);
    // A clock that is ahead must not count: the server has just said what time it is.
    time_.note(kept.all, (std::min)(time_.now(), iat));
    kept.all.set("latest", latest);
    write(kept);
  });
}

inline void Offline::correctTime(double serverTime, const std::optional<std::string> &hwid) {
  const auto isAhead = [&](const Kept &kept) { return time_.floor(kept.all) > serverTime + clockToleranceS; };
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!isAhead(load())) return;
  }
  alone([&](Kept &kept) {
    const std::optional<Json> lease = hwid ? readLease(kept.all["lease"].string(), subject(*hwid)) : std::nullopt;
    const double latest = (std::max)(serverTime, lease ? (*lease)["iat"].number() : 0);
    if (!isAhead(kept)) return;
    time_.forget();
    kept.all.set("latest", (std::min)(kept.all["latest"].number(), latest));
    kept.all.erase("boot");
    write(kept);
  });
}

inline void Offline::forgetLease(const IsCurrent &isCurrent) {
  alone([&](Kept &kept) {
    if (!isCurrent()) return;
    clearLease(kept);
    const Json pending = kept.all["activation"]["pending"];
    if (pending.isNull())
      kept.all.erase("activation");
    else
      kept.all.set("activation", Json::object().set("pending", pending));
    write(kept);
  });
}

inline void Offline::forget() {
  alone([&](Kept &kept) {
    clearLease(kept);
    kept.all.erase("deviceToken");
    write(kept);
  });
}

inline void Offline::dropDeviceToken(const std::string &refused) {
  alone([&](Kept &kept) {
    if (kept.all["deviceToken"].text() != refused) return;
    kept.all.erase("deviceToken");
    write(kept);
  });
}

inline std::optional<std::string> Offline::deviceToken() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return load().all["deviceToken"].text();
}

inline void Offline::keepDeviceToken(const std::string &deviceToken, const IsCurrent &isCurrent) {
  alone([&](Kept &kept) {
    if (!isCurrent()) return;
    kept.all.set("deviceToken", deviceToken);
    write(kept);
  });
}

}  // namespace keyward::detail

#endif
