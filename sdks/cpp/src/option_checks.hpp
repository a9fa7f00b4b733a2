#pragma once

#include "address.hpp"
#include "clock.hpp"
#include "encodings.hpp"
#include "exchange.hpp"
#include "file_storage.hpp"
#include "json.hpp"
#include "key_ring.hpp"
#include "offline.hpp"
#include "option_errors.hpp"
#include "options.hpp"
#include "platform.hpp"
#include "text.hpp"

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
