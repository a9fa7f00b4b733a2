// The adapter of the C++ SDK for the conformance tests; ../conformance/README.md describes its protocol.
#include "keyward.hpp"

#include <fstream>
#include <iostream>

using keyward::Json;
namespace detail = keyward::detail;

namespace {

struct Program {
  std::unique_ptr<keyward::Client> client;
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
  std::shared_ptr<Json> events = std::make_shared<Json>(Json::array());
  /** Seconds since 1970; below zero for the real time. */
  std::shared_ptr<std::atomic<double>> now = std::make_shared<std::atomic<double>>(-1);
  /** How far the monotonic clock is ahead. */
  std::shared_ptr<std::atomic<double>> elapsed = std::make_shared<std::atomic<double>>(0);
};

std::map<std::string, Program> programs;

Program &program(const Json &request) {
  const auto found = programs.find(request["id"].string());
  if (found == programs.end()) throw std::runtime_error("no client of this id");
  return found->second;
}

/** A storage of the program's own, without the guarantees of the SDK's. */
class PlainFile : public keyward::Storage {
 public:
  explicit PlainFile(std::string path) : path_(std::move(path)) {}

  std::optional<std::string> read() override {
    try {
      return detail::readWholeFile(path_);
    } catch (const detail::SourceError &) {
      return std::nullopt;
    }
  }

  void write(const std::string &text) override { keyward::fileStorage(path_)->write(text); }

 private:
  std::string path_;
};

/** A storage that holds a text and forgets what is written. */
class FixedText : public keyward::Storage {
 public:
  explicit FixedText(std::string text) : text_(std::move(text)) {}
  std::optional<std::string> read() override { return text_; }
  void write(const std::string &) override {}

 private:
  std::string text_;
};

Json toJson(const keyward::LogEvent &event) {
  Json json = Json::object();
  json.set("event", event.event).set("call", event.call);
  if (event.attempt) json.set("attempt", *event.attempt);
  if (event.status) json.set("status", *event.status);
  if (event.code) json.set("code", *event.code);
  if (event.reference) json.set("reference", *event.reference);
  if (event.durationMs) json.set("durationMs", *event.durationMs);
  if (event.delayMs) json.set("delayMs", *event.delayMs);
  return json;
}

keyward::Options toOptions(const Json &from, const Program &owner) {
  keyward::Options options;
  options.baseUrl = from["baseUrl"].string();
  options.appId = from["appId"].string();
  options.secret = from["secret"].string();
  options.version = from["version"].string();
  const Json &keys = from["publicKeys"];
  options.publicKeys = keys.isNull() ? "" : keys.dump();
  if (from.find("hash")) options.hash = from["hash"].string();
  if (from.find("locale")) options.locale = from["locale"].string();
  if (from.find("proxy")) options.proxy = from["proxy"].string();
  if (from["timeoutMs"].isNumber()) options.timeoutMs = static_cast<std::int64_t>(from["timeoutMs"].number());
  if (from["device"].isBoolean()) options.device = from["device"].isTrue();
  if (const Json *hwid = from.find("hwid")) {
    if (hwid->isNull())
      options.hwid = nullptr;
    else if (hwid->string() == "!throw")
      options.hwid = []() -> std::string { throw std::runtime_error("It fails on purpose"); };
    else
      options.hwid = hwid->string();
  }
  const Json &storage = from["storage"];
  if (storage.string() == "user-data") options.storage = keyward::userData;
  if (storage.isObject()) options.storage = std::make_shared<PlainFile>(storage["file"].string());
  const Json &log = from["log"];
  if (log.isTrue()) {
    options.log = [mutex = owner.mutex, events = owner.events](const keyward::LogEvent &event) {
      const std::lock_guard<std::mutex> lock(*mutex);
      events->push(toJson(event));
    };
  }
  if (log.string() == "!throw")
    options.log = [](const keyward::LogEvent &) { throw std::runtime_error("It fails on purpose"); };
  return options;
}

Json create(const Json &request) {
  Program made;
  if (request["now"].isNumber()) *made.now = request["now"].number();
  const auto clock = [now = made.now] { return *now < 0 ? detail::systemNow() : now->load(); };
  const auto elapsed = [ahead = made.elapsed] { return detail::systemElapsed() + *ahead; };
  made.client = std::make_unique<keyward::Client>(toOptions(request["options"], made), clock, elapsed);
  programs[request["id"].string()] = std::move(made);
  return Json::object().set("ok", true);
}

void expect(bool isSame, const char *what) {
  if (!isSame) throw std::runtime_error(std::string("the field differs from the JSON: ") + what);
}

Json optional(const std::optional<std::string> &text) { return text ? Json(*text) : Json(); }

/** A text of the JSON, or the default of the field. */
bool isText(const std::string &field, const Json &json) { return field == json.string(); }

bool isSame(const std::optional<keyward::Links> &links, const Json &json) {
  if (!links) return !json.isObject();
  return optional(links->buy) == json["buy"] && optional(links->renew) == json["renew"] &&
         links->upgrades.size() == json["upgrades"].items().size() &&
         (links->upgrades.empty() || links->upgrades[0].url == json["upgrades"].items()[0]["url"].string());
}

bool isSame(const std::optional<keyward::Advisory> &advisory, const Json &json) {
  if (!advisory) return !json.isObject();
  return optional(advisory->version) == json["version"] && advisory->severity == json["severity"].string() &&
         advisory->summary == json["summary"].string() && optional(advisory->url) == json["url"];
}

void compare(const keyward::UserData &data, const Json &json) {
  const keyward::SessionUser &user = data.user;
  const Json &from = json["user"];
  expect(isText(user.id, from["_id"]) && isText(user.username, from["username"]), "_id, username");
  expect(optional(user.expiresAt) == from["expiresAt"] && user.inGrace == from["inGrace"].isTrue(), "expiresAt, inGrace");
  expect(isText(user.term, from["term"]) && optional(user.email) == from["email"], "term, email");
  expect(optional(user.lastLoginAt) == from["lastLoginAt"], "lastLoginAt");
  expect(isText(user.createdAt, from["createdAt"]) && user.hwidBound == from["hwidBound"].isTrue(), "createdAt, hwidBound");
  expect(user.features.size() == from["features"].items().size(), "features");
  expect(user.variables.size() == from["variables"].members().size(), "variables");
  expect(optional(user.updatesUntil) == from["updatesUntil"], "updatesUntil");
  expect((user.updateAvailable ? Json(*user.updateAvailable) : Json()) == from["updateAvailable"], "updateAvailable");
  expect(user.devices.limit == from["devices"]["limit"].number() && user.devices.used == from["devices"]["used"].number(), "devices");
  expect(user.seat.has_value() == from["seat"].isObject(), "seat");
  expect(isSame(user.links, from["links"]) && isSame(data.advisory, json["advisory"]), "links, advisory");
  expect(data.offline.has_value() == json["offline"].isObject(), "offline");
  if (!data.offline) return;
  expect(optional(data.offline->until) == json["offline"]["until"], "offline.until");
  expect(optional(data.offline->graceUntil) == json["offline"]["graceUntil"], "offline.graceUntil");
}

void compare(const keyward::UpdateData &data, const Json &json) {
  const Json &update = json["update"];
  expect(data.update.has_value() == update.isObject() && data.beyond.has_value() == json["beyond"].isObject(), "update, beyond");
  if (data.beyond)
    expect(data.beyond->version == json["beyond"]["version"].string() && isSame(data.beyond->links, json["beyond"]["links"]), "beyond");
  if (!data.update) return;
  expect(data.update->version == update["version"].string() && data.update->releasedAt == update["releasedAt"].string(), "version, releasedAt");
  expect(optional(data.update->notes) == update["notes"] && optional(data.update->url) == update["url"], "notes, url");
  expect(data.update->security.has_value() == update["security"].isObject(), "security");
  expect(data.update->artifact.has_value() == update["artifact"].isObject(), "artifact");
}

void compare(const keyward::InitData &data, const Json &json) {
  expect(isText(data.app.name, json["app"]["name"]) && isText(data.app.version, json["app"]["version"]), "app");
  expect(data.updateAvailable == json["updateAvailable"].isTrue(), "updateAvailable");
  expect(isSame(data.advisory, json["advisory"]), "advisory");
}

void compare(const keyward::ValidateData &data, const Json &json) {
  expect(isText(data.license.key, json["license"]["key"]), "license.key");
  expect(data.activated == json["activated"].isTrue(), "activated");
}

void compare(const keyward::DevicesData &data, const Json &json) {
  expect(data.devices.size() == json["devices"].items().size(), "devices");
  for (std::size_t at = 0; at < data.devices.size(); at++)
    expect(isText(data.devices[at].id, json["devices"].items()[at]["_id"]), "devices._id");
}

void compare(const keyward::Nothing &, const Json &) {}

/** The result as the server sent it, after a comparison with the fields that programs read. */
template <class Data>
Json shown(const keyward::Result<Data> &result) {
  expect(result.ok == result.json["ok"].isTrue(), "ok");
  expect(isText(result.message, result.json["message"]), "message");
  if (result.ok) {
    compare(result, result.json);
  } else {
    expect(isText(result.code, result.json["code"]) && isText(result.reference, result.json["reference"]), "code, reference");
    expect(result.details == result.json["details"], "details");
    const Json &details = result.details;
    expect(isSame(result.offers.links, details["links"]) && isSame(result.offers.advisory, details["advisory"]), "offers");
    expect((result.offers.release ? result.offers.release->version : "") == details["release"]["version"].string(), "release");
  }
  return result.json;
}

std::optional<std::string> optionalText(const Json &value) { return value.text(); }

/** A text argument; other languages reject other types at run time. */
const std::string &text(const Json &value, const char *name) {
  if (!value.isString()) throw keyward::UsageError("invalid_argument", std::string(name) + " must be a text");
  return value.string();
}

Json run(keyward::Client &client, const std::string &method, const Json &args) {
  const auto arg = [&](std::size_t at) { return at < args.items().size() ? args.items()[at] : Json(); };
  const Json first = arg(0);
  if (method == "init") return shown(client.init());
  if (method == "register")
    return shown(client.register_({text(first["username"], "username"), text(first["password"], "password"),
                                   text(first["licenseKey"], "licenseKey"), optionalText(first["email"])}));
  if (method == "login") return shown(client.login({text(first["username"], "username"), text(first["password"], "password")}));
  if (method == "license") return shown(client.license(text(first, "licenseKey")));
  if (method == "upgrade")
    return shown(client.upgrade({text(first["username"], "username"), text(first["licenseKey"], "licenseKey")}));
  if (method == "session") return shown(client.session());
  if (method == "logout") return shown(client.logout());
  if (method == "trial") return shown(client.trial({optionalText(first["type"]), optionalText(first["email"])}));
  if (method == "devices") return shown(client.devices());
  if (method == "freeDevice") return shown(client.freeDevice(text(first, "deviceId")));
  if (method == "validate") return shown(client.validate(text(first, "licenseKey"), {arg(1)["activate"].isTrue()}));
  if (method == "checkForUpdate")
    return shown(client.checkForUpdate({optionalText(first["channel"]), optionalText(first["platform"]),
                                        optionalText(first["architecture"]), optionalText(first["licenseKey"])}));
  if (method == "downloadUpdate") return client.downloadUpdate(detail::toUpdate(first), text(arg(1), "folder"));
  if (method == "has") return client.has(text(first, "feature"));
  if (method == "variable") return optional(client.variable(text(first, "name")));
  if (method == "offlineRequest") return client.offlineRequest(text(first, "licenseKey"));
  if (method == "activateOffline") return shown(client.activateOffline(text(first, "file")));
  if (method == "deactivateOffline") return client.deactivateOffline();
  throw std::runtime_error("unknown method " + method);
}

Json toError(const char *kind, const keyward::Error &error) {
  return Json::object().set("kind", kind).set("code", error.code);
}

/** The answer of an operation, or the error that it ended with. */
template <class Operation>
Json answered(Operation operation) {
  Json error;
  try {
    return operation();
  } catch (const keyward::NetworkError &failure) {
    error = toError("network", failure);
    error.set("outcomeUnknown", failure.outcomeUnknown);
    if (failure.status) error.set("status", *failure.status);
    if (failure.retryAfterMs) error.set("retryAfterMs", *failure.retryAfterMs);
    if (failure.offline) error.set("offline", *failure.offline);
  } catch (const keyward::SignatureError &failure) {
    error = toError("signature", failure);
    error.set("status", failure.status);
  } catch (const keyward::UsageError &failure) {
    error = toError("usage", failure);
  } catch (const std::exception &failure) {
    error = Json::object().set("kind", "other").set("code", failure.what());
  }
  return Json::object().set("error", error);
}

Json call(const Json &request) {
  keyward::Client &client = *program(request).client;
  return Json::object().set("result", run(client, request["method"].string(), request["args"]));
}

/** Starts all calls before it waits for any of them. */
Json together(const Json &request) {
  std::vector<std::future<Json>> running;
  for (const Json &one : request["calls"].items())
    running.push_back(std::async(std::launch::async, [&one] {
      const std::string &after = one["after"].string();
      while (!after.empty() && !std::ifstream(after).good())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return answered([&one] { return call(one); });
    }));
  Json results = Json::array();
  for (std::future<Json> &each : running) results.push(each.get());
  return Json::object().set("results", results);
}

/** Each character of a header is one byte (ISO 8859-1). */
std::string toLatin1(const std::string &text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at++) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0xC0 && at + 1 < text.size())
      out += static_cast<char>(((byte & 0x03) << 6) | (static_cast<unsigned char>(text[++at]) & 0x3F));
    else
      out += text[at];
  }
  return out;
}

Json judge(const Json &request) {
  const detail::KeyRing keys = detail::toKeyRing(request["keys"]);
  const Json &sentJson = request["request"];
  const Json &headers = sentJson["headers"];
  const detail::SentRequest sent{sentJson["method"].string(), sentJson["path"].string(), headers["keyward-nonce"].string(),
                                 headers["authorization"].text(), headers["content-digest"].text()};
  const Json &response = request["response"];
  detail::ReceivedAnswer answer;
  answer.status = static_cast<int>(response["status"].number());
  for (const Json &pair : response["headers"].items())
    answer.headers.emplace_back(detail::lowerAscii(pair.items()[0].string()), toLatin1(pair.items()[1].string()));
  const std::string once = response["bodyBase64"].isString()
                               ? detail::fromBase64(response["bodyBase64"].string()).value_or("")
                               : response["body"].string();
  Json result = Json::object();
  try {
    for (int left = static_cast<int>(response["bodyRepeat"].number(1)); left > 0; left--) {
      answer.body += once;
      if (answer.body.size() > detail::maxAnswerBytes) break;
    }
    detail::Verified verified;
    result.set("outcome", detail::judge(sent, answer, keys, verified) ? "verdict" : "unavailable");
    if (!verified.base.empty()) result.set("signatureBase", verified.base);
  } catch (const keyward::SignatureError &error) {
    result.set("outcome", "refused").set("reason", error.code);
  } catch (const keyward::NetworkError &error) {
    result.set("outcome", "unavailable").set("reason", error.code);
  }
  return result;
}

Json checkLease(const Json &request) {
  const double now = request["now"].number();
  const bool isLease = request["type"].string() == "lease";
  Json kept = Json::object();
  kept.set("latest", request["latest"]);
  if (isLease)
    kept.set("lease", request["lease"]).set("user", Json::object()).set("key", Json());
  else
    kept.set("activation", Json::object().set("pending", Json::object().set("nonce", request["nonce"]).set("licenseKey", "")));
  const std::string &hwid = request["hwid"].string();
  detail::Offline offline(std::make_shared<FixedText>(kept.dump()), request["appId"].string(),
                          detail::toKeyRing(request["keys"]), [now] { return now; });
  const detail::OfflineOutcome outcome =
      isLease ? offline.answer(hwid, std::nullopt) : offline.activate(request["lease"].string(), hwid);
  Json result = Json::object().set("accepted", outcome.answer.has_value());
  if (!outcome.answer && isLease) result.set("problem", outcome.problem);
  return result;
}

bool isAbsent(const std::string &code) {
  return code == "ENOENT" || code == "ENOTDIR" || code == "EACCES" || code == "EPERM";
}

detail::Machine toMachine(const Json &facts) {
  detail::Machine machine;
  machine.platform = facts["platform"].string();
  machine.hostname = facts["hostname"].string();
  for (const Json &mac : facts["macs"].items()) machine.macs.push_back(mac.string());
  const auto failures = std::make_shared<std::map<std::string, int>>();
  machine.read = [files = facts["files"], failures](const std::string &path) -> std::string {
    const Json *file = files.find(path);
    if (!file) throw detail::SourceError("missing", true);
    if (file->isString()) return file->string();
    const int failed = ++(*failures)[path];
    if ((*file)["times"].isNumber() && failed > (*file)["times"].number()) return (*file)["text"].string();
    throw detail::SourceError("broken", isAbsent((*file)["error"].string()));
  };
  machine.property = [read = machine.read, platform = machine.platform](const std::string &) {
    return read(platform == "darwin" ? "ioplatform" : "machine-guid");
  };
  return machine;
}

Json hashPart(const Json &request) {
  const std::string &part = request["part"].string();
  const std::string &value = request["value"].string();
  Json facts = Json::object();
  facts.set("platform", "linux").set("files", Json::object());
  if (part == "network")
    facts.set("macs", Json::array({Json(value)}));
  else
    facts.set("files", Json::object().set(part == "machine" ? "/etc/machine-id"
                                          : part == "board" ? "/sys/class/dmi/id/product_uuid"
                                                            : "/sys/block/nvme0n1/device/serial",
                                          value));
  const Json device = detail::describeDevice(request["appId"].string(), toMachine(facts));
  return Json::object().set("hash", device["parts"][part]);
}

Json operate(const Json &request) {
  const std::string &op = request["op"].string();
  if (op == "new") return create(request);
  if (op == "call") return call(request);
  if (op == "together") return together(request);
  if (op == "judge") return judge(request);
  if (op == "lease") return checkLease(request);
  if (op == "part") return hashPart(request);
  if (op == "now") {
    *program(request).now = request["now"].number(-1);
    return Json::object().set("ok", true);
  }
  if (op == "elapse") {
    *program(request).elapsed = *program(request).elapsed + request["seconds"].number();
    return Json::object().set("ok", true);
  }
  if (op == "events") {
    const Program &one = program(request);
    const std::lock_guard<std::mutex> lock(*one.mutex);
    return Json::object().set("result", std::exchange(*one.events, Json::array()));
  }
  if (op == "hwid")
    return Json::object().set("hwid", detail::hashMachineId(request["appId"].string(), request["machine"].string()));
  if (op == "hwidSources")
    return Json::object().set("hwid", detail::defaultHwid(request["appId"].string(), toMachine(request)));
  if (op == "encodeRequest") {
    const std::string nonce = detail::fromHex(request["nonce"].string()).value_or("");
    return Json::object().set("request", detail::encodeRequest(request["appId"].string(), request["hwid"].string(),
                                                               request["licenseKey"].string(), nonce));
  }
  if (op == "ed25519") {
    const auto bytes = [&](const char *name) { return detail::fromHex(request[name].string()).value_or(""); };
    return Json::object().set("valid", detail::verifyEd25519(bytes("publicKey"), bytes("message"), bytes("signature")));
  }
  throw std::runtime_error("unknown op " + op);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::optional<Json> request = Json::parse(line);
    const Json answer = answered([&] {
      if (!request) throw std::runtime_error("not JSON");
      return operate(*request);
    });
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
