// What the conformance tests cannot ask an adapter for. Prints each failure; the exit code is their number.
#include "keyward.hpp"

#include <iostream>

using keyward::Json;
namespace detail = keyward::detail;

/** In another translation unit, which includes the header, too. */
const char *otherSdk();

namespace {

int failures = 0;

void check(bool isGood, const std::string &what) {
  if (isGood) return;
  failures++;
  std::cout << what << std::endl;
}

template <class Action>
std::string codeOf(Action action) {
  try {
    action();
  } catch (const keyward::Error &error) {
    return error.code;
  }
  return "no error";
}

std::string parsed(const std::string &text) {
  const std::optional<Json> json = Json::parse(text);
  return json ? json->dump() : "rejected";
}

std::string repeated(const std::string &text, int times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}

void checkJson() {
  const std::pair<const char *, const char *> cases[] = {
      {R"( {"a":1,"b":[true,false,null]} )", R"({"a":1,"b":[true,false,null]})"},
      {R"({"a":1,"b":2,"a":3})", R"({"a":3,"b":2})"},
      {"-0", "-0"},
      {"1e2", "100"},
      {"0.1", "0.1"},
      {"9007199254740993", "9007199254740992"},
      {"1e400", "null"},
      {"1e-400", "0"},
      {R"("\u0041\n\"\\\/")", R"("A\u000a\"\\/")"},
      {R"("\ud83d\ude00")", "\"\xF0\x9F\x98\x80\""},
      {R"("\ud83d")", R"("\ud83d")"},
      {R"("\ude00\ud83d")", R"("\ude00\ud83d")"},
      {R"("\u0000")", R"("\u0000")"},
      {"\xEF\xBB\xBF[]", "[]"},
      {"\"\xFF\"", "\"\xEF\xBF\xBD\""},
      {"\"\xED\xA0\x80\"", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
  };
  for (const auto &[text, expected] : cases) {
    const std::string found = parsed(text);
    check(found == expected, std::string("JSON ") + text + " is " + found);
  }
  for (const char *text : {"", "{", "[1,]", "{\"a\":1,}", "01", "+1", "1.", ".5", "1e", "NaN", "Infinity", "'a'", "{a:1}",
                           "\"\n\"", "\"\\x41\"", "\"\\u12g4\"", "[1] 2", "nul", "\"abc", "\v1", "\xC2\xA0[]", "--1", "0x10"})
    check(parsed(text) == "rejected", std::string("JSON accepts ") + text);
  check(parsed(std::string("[1\0]", 4)) == "rejected", "JSON accepts a NUL");
  check(parsed(repeated("[", 200) + repeated("]", 200)) != "rejected", "JSON rejects 200 levels");
  check(parsed(repeated("[", 100000)) == "rejected", "JSON accepts 100,000 levels");
  check(parsed(repeated("{\"a\":", 100000)) == "rejected", "JSON accepts 100,000 objects");
}

keyward::Options good() {
  keyward::Options options;
  options.baseUrl = "http://127.0.0.1:9";
  options.appId = "app12345";
  options.secret = "secret";
  options.publicKeys = R"({"kty":"OKP","crv":"Ed25519","kid":"k","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"})";
  options.version = "1.0.0";
  options.hwid = "machine-1";
  options.timeoutMs = 100;
  return options;
}

template <class Change>
std::string codeWith(Change change) {
  keyward::Options options = good();
  change(options);
  return codeOf([&] { keyward::Client client(options); });
}

void checkOptions() {
  using keyward::Options;
  check(codeWith([](Options &) {}) == "no error", "good options are rejected");
  const std::string invalid = "invalid_options";
  for (const std::string id : {"", "a\r\nX-Evil: 1", "a b", "gr\xC3\xBC\xC3\x9F", "a\x7F"})
    check(codeWith([&](Options &options) { options.appId = id; }) == invalid, "the app id " + id);
  check(codeWith([](Options &options) { options.appId = std::string("a\0b", 3); }) == invalid, "an app id with a NUL");
  check(codeWith([](Options &options) { options.version = "\xFF"; }) == invalid, "a version that is not UTF-8");
  check(codeWith([](Options &options) { options.version = std::string(33, '1'); }) == invalid, "a long version");
  check(codeWith([](Options &options) { options.version = repeated("\xF0\x9F\x98\x80", 16); }) == "no error", "32 units");
  check(codeWith([](Options &options) { options.version = repeated("\xF0\x9F\x98\x80", 17); }) == invalid, "34 units");
  check(codeWith([](Options &options) { options.hwid = ""; }) == invalid, "an empty hardware id");
  check(codeWith([](Options &options) { options.timeoutMs = 99; }) == invalid, "a short timeout");
  check(codeWith([](Options &options) { options.publicKeys = "{"; }) == invalid, "keys that are no JSON");
  for (const char *url : {"", "licenses.example.com", "ftp://a", "https://", "https://u:p@a", "https://a/?b", "https://a/#b",
                          "https://a:b", "https://a:65536", "https://a\r\nb", "https://a b", "https://[::1", "https://[]", "https:///a"})
    check(codeWith([&](Options &options) { options.baseUrl = url; }) == invalid, std::string("the address ") + url);
  for (const char *proxy : {"", "a:80", "https://a:80", "http://", "http://a:80/path", "http://u:p%0d%0aX: 1@a:80", "http://u%3A:p@a",
                            "http://a:b", "http://%zz@a"})
    check(codeWith([&](Options &options) { options.proxy = proxy; }) == invalid, std::string("the proxy ") + proxy);
  const auto address = [](const char *url) {
    const detail::Address found = detail::toAddress(url);
    return found.origin + "|" + found.prefix;
  };
  check(address("HTTPS://Licenses.Example.com:443/") == "https://licenses.example.com|", "a default port");
  check(address("https://a:8443/tools//licenses/?#") == "https://a:8443|/tools//licenses", "a path");
  check(address(" https://a/b/../c/./%2e%2E/d e\xC3\xA4 ") == "https://a|/d%20e%C3%A4", "a path with dots");
  check(address("http://[::1]:3000") == "http://[::1]:3000|", "an IPv6 address");
  keyward::Client client(good());
  check(codeOf([&] { client.license("\xFF"); }) == "invalid_argument", "a key that is not UTF-8");
  check(codeOf([&] { client.freeDevice(""); }) == "invalid_argument", "an empty device id");
  check(codeOf([&] { client.offlineRequest("KEY"); }) == "invalid_options", "offlineRequest without storage");
  check(detail::encodePathSegment("a/../\r\n?#%") == "a%2F..%2F%0D%0A%3F%23%25", "a device id in a path");
}

#ifndef _WIN32
std::string modeOf(const std::string &path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return "none";
  return (S_ISREG(facts.st_mode) ? "file " : "other ") + std::to_string(facts.st_mode & 0777);
}

void checkStorage() {
  char name[] = "/tmp/keyward-checks-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  const std::string path = folder + "/deep/er/kept.json";
  const auto storage = keyward::fileStorage(path);
  check(!storage->read(), "a missing file has a text");
  storage->write("one");
  check(storage->read() == "one" && modeOf(path) == "file 384", "a file that only its user can read: " + modeOf(path));
  check(modeOf(folder + "/deep") == "other 448", "a folder that only its user can enter");

  const std::string target = folder + "/target";
  keyward::fileStorage(target)->write("precious");
  ::unlink(path.c_str());
  check(::symlink(target.c_str(), path.c_str()) == 0, "no symbolic link");
  storage->write("two");
  check(keyward::fileStorage(target)->read() == "precious" && modeOf(path) == "file 384", "writing follows a link");

  ::unlink(path.c_str());
  check(::mkfifo(path.c_str(), 0600) == 0, "no pipe");
  bool hasThrown = false;
  try {
    storage->read();
  } catch (const std::exception &) {
    hasThrown = true;
  }
  check(hasThrown, "reading waits for a pipe");
  ::unlink(path.c_str());

  keyward::Options options = good();
  options.storage = storage;
  storage->write("{\"latest\":1,\"later\":{\"of\":\"another version\"},\"user\":3,\"lease\":[");
  check(codeOf([&] { keyward::Client(options).session(); }) == "unreachable", "a broken file");
  storage->write("{\"latest\":1,\"later\":{\"of\":\"another version\"},\"user\":3,\"lease\":[]}");
  keyward::Client client(options);
  const std::string request = client.offlineRequest("KEY");
  check(client.offlineRequest(" KEY\xC2\xA0") == request && client.offlineRequest("OTHER") != request, "the request of a key");
  check(storage->read().value_or("").find("\"later\":{\"of\":\"another version\"}") != std::string::npos, "others are lost");
  check(modeOf(path + ".lock") == "none", "a lock is left");

  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([&options] { codeOf([&] { keyward::Client(options).offlineRequest("KEY"); }); });
  for (std::thread &each : threads) each.join();
  check(storage->read().has_value() && Json::parse(*storage->read()).has_value(), "eight writers break the file");

  class Full : public keyward::Storage {
   public:
    std::optional<std::string> read() override { return std::nullopt; }
    void write(const std::string &) override { throw std::runtime_error("disk full"); }
    void lock(const std::function<void()> &) override { throw 1; }
  };
  options.storage = std::make_shared<Full>();
  keyward::Client full(options);
  check(codeOf([&] { full.offlineRequest("KEY"); }) == "storage_failed", "a full disk is not reported");
  check(codeOf([&] { full.session(); }) == "unreachable", "a full disk stops a program that is online");
  check(full.logout().ok, "a full disk stops a sign-out");

  ::unlink(path.c_str());
  ::unlink(target.c_str());
  for (const char *each : {"/deep/er", "/deep", ""}) ::rmdir((folder + each).c_str());
  check(modeOf(folder) == "none", "drafts are left");
}

void checkPrograms() {
  check(detail::runProgram("/bin/echo", {"-n", "a b"}) == "a b", "the output of a program");
  for (const char *file : {"/bin/false", "/no/such/program"}) {
    bool hasThrown = false;
    try {
      detail::runProgram(file, {});
    } catch (const detail::SourceError &) {
      hasThrown = true;
    }
    check(hasThrown, std::string("the failure of ") + file);
  }
  {
    const detail::NoBrokenPipe guard;
    ::raise(SIGPIPE);
  }
  check(detail::findIoregValue("  \"IOPlatformUUID\" = \"AB-1\"\n", "IOPlatformUUID") == "AB-1", "a value of ioreg");
}
#endif

void checkTimes() {
  check(detail::parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT") == 784111777, "a date of HTTP");
  check(detail::parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT") == 784111777, "a date of RFC 850");
  check(detail::parseHttpDate("Sun Nov  6 08:49:37 1994") == 784111777, "a date of asctime");
  for (const char *text : {"", "soon", "-1", "Sun, 06 Nov 1994", "Sun, 66 Nov 1994 08:49:37 GMT", "1e3"})
    check(!detail::parseHttpDate(text), std::string("the date ") + text);
  check(!detail::parseRetryAfter("99999999999") && detail::parseRetryAfter("0120") == 120000, "Retry-After in seconds");
  check(detail::toIso(951782400) == "2000-02-29T00:00:00.000Z", "an ISO time");
  check(detail::parseIso("2000-02-29T00:00:00.500Z") == 951782400.5 && !detail::parseIso("2000-02-29"), "reading an ISO time");
}

void checkCertificates() {
  detail::Exchange request;
  request.origin = "https://licenses.test";
  const auto judged = [&](const char *problem) {
    const keyward::NetworkError error = detail::certificateError(request, problem);
    check(!error.outcomeUnknown, std::string("the request was not sent: ") + problem);
    const std::string start = std::string("The certificate of https://licenses.test ");
    check(std::string(error.what()).compare(0, start.size(), start) == 0, std::string("no origin: ") + problem);
    return error.code + ": " + std::string(error.what()).substr(start.size(), 10);
  };
  check(judged("SSL certificate problem: certificate is not yet valid") == "clock: is not val", "OpenSSL, not yet valid");
  check(judged("server certificate not activated yet.") == "clock: is not val", "GnuTLS, not yet valid");
  check(judged("SSL certificate problem: certificate has expired") == "certificate: has expire", "OpenSSL, expired");
  check(judged("server certificate expiration date has passed.") == "certificate: has expire", "GnuTLS, expired");
  for (const char *problem : {"SSL certificate problem: self-signed certificate",
                              "SSL certificate problem: unable to get local issuer certificate",
                              "SSL: no alternative certificate subject name matches target host name 'licenses.test'"})
    check(judged(problem) == "certificate: is not tru", problem);
}

}  // namespace

int main() {
  check(otherSdk() == std::string(keyward::sdk), "another SDK in the other translation unit");
  checkJson();
  checkOptions();
  checkTimes();
  checkCertificates();
#ifndef _WIN32
  checkStorage();
  checkPrograms();
#endif
  return failures;
}
