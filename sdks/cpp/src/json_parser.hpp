#pragma once

#include "json.hpp"
#include "platform.hpp"
#include "text.hpp"

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
