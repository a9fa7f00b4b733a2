#pragma once

#include "platform.hpp"

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
