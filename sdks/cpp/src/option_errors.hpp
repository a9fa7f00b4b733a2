#pragma once

#include "errors.hpp"
#include "platform.hpp"
#include "text.hpp"

namespace keyward::detail {

inline UsageError wrongOption(const std::string &message) { return UsageError("invalid_options", message); }

inline void checkText(const char *name, const std::string &value, std::size_t max) {
  if (value.empty() || utf16Length(value) > max)
    throw wrongOption(std::string(name) + " must be a text of 1 to " + std::to_string(max) + " characters");
  if (!isValidUtf8(value)) throw wrongOption(std::string(name) + " must be UTF-8");
}

}  // namespace keyward::detail
