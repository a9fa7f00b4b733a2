#pragma once

#include "encodings.hpp"
#include "platform.hpp"
#include "text.hpp"

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
