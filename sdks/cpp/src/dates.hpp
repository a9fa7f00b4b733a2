#pragma once

#include "platform.hpp"
#include "text.hpp"

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
