"""The adapter of the Python SDK for the shared conformance tests; see ../conformance/README.md for its protocol."""

from __future__ import annotations

import base64
import dataclasses
import errno
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from keyward import (
    Keyward,
    KeywardError,
    KeywardNetworkError,
    KeywardSignatureError,
    KeywardUsageError,
    KeywardWarning,
    LogEvent,
)
from keyward.activation import encode_request
from keyward.device import describe_device
from keyward.exchange import Deadline, receive
from keyward.hwid import Machine, default_hwid
from keyward.keys import to_key_ring
from keyward.offline import Offline, OfflineAnswer
from keyward.results import to_update
from keyward.signature import ReceivedAnswer, SentRequest, is_signed, judge, signature_base
from keyward.structured_fields import parse_dictionary
from keyward.text import to_base64_url

Request = Dict[str, Any]

OPTIONS = {
    "baseUrl": "base_url",
    "appId": "app_id",
    "secret": "secret",
    "publicKeys": "public_keys",
    "version": "version",
    "hash": "hash",
    "locale": "locale",
    "hwid": "hwid",
    "device": "device",
    "storage": "storage",
    "timeoutMs": "timeout_ms",
    "proxy": "proxy",
    "log": "log",
}
REQUIRED = ("base_url", "app_id", "secret", "public_keys", "version")


class Client:
    def __init__(self, options: Request, now: Optional[float]) -> None:
        self.events: List[LogEvent] = []
        self.keyward = Keyward(**to_options(options, self.events))
        self.now = now
        self.elapsed = 0.0
        away, offline = self.keyward._session._fallback._away, self.keyward._options.offline
        away.monotonic = self.monotonic
        if offline is not None:
            offline._time.monotonic = self.monotonic
            offline._time.now = lambda: time.time() if self.now is None else self.now

    def monotonic(self) -> float:
        return time.monotonic() + self.elapsed


clients: Dict[str, Client] = {}


class FileStorage:
    """A storage of the program's own."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read(self) -> Optional[str]:
        try:
            with open(self._path, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, text: str) -> None:
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(text)


def fail(*_: object) -> str:
    raise RuntimeError("It fails on purpose")


def to_options(named: Request, events: List[LogEvent]) -> Dict[str, Any]:
    options: Dict[str, Any] = {name: None for name in REQUIRED}
    options.update({OPTIONS[name]: value for name, value in named.items()})
    if options.get("hwid") == "!throw":
        options["hwid"] = fail
    if isinstance(options.get("storage"), dict):
        options["storage"] = FileStorage(options["storage"]["file"])
    if "log" in options:
        options["log"] = fail if options["log"] == "!throw" else events.append
    return options


def new(request: Request) -> Request:
    clients[request["id"]] = Client(request["options"], request.get("now"))
    return {"ok": True}


def set_now(request: Request) -> Request:
    clients[request["id"]].now = request["now"]
    return {"ok": True}


def elapse(request: Request) -> Request:
    clients[request["id"]].elapsed += request["seconds"]
    return {"ok": True}


def call(request: Request) -> Request:
    """The TypeScript SDK takes some arguments as the members of one object."""
    run: Callable[..., Any] = getattr(clients[request["id"]].keyward, to_snake(request["method"]))
    arguments, named = list(request.get("args") or []), {}
    if request["method"] in ("register", "login", "upgrade", "trial", "checkForUpdate") and arguments:
        named = arguments.pop(0)
    elif request["method"] == "downloadUpdate":
        arguments[0] = to_update(arguments[0])
    elif request["method"] == "validate" and len(arguments) == 2:
        named = arguments.pop()
    return {"result": to_camel(run(*arguments, **{to_snake(name): value for name, value in (named or {}).items()}))}


def together(request: Request) -> Request:
    calls = request["calls"]
    barrier = threading.Barrier(len(calls))

    def run(each: Request) -> Request:
        barrier.wait()
        while "after" in each and not os.path.exists(each["after"]):
            time.sleep(0.005)
        return answered(call, each)

    with ThreadPoolExecutor(len(calls)) as pool:
        return {"results": list(pool.map(run, calls))}


def take_events(request: Request) -> Request:
    events = clients[request["id"]].events
    taken = [to_camel(event) for event in list(events)]
    del events[: len(taken)]
    return {"result": [{name: value for name, value in each.items() if value is not None} for each in taken]}


def judge_case(request: Request) -> Request:
    ring = to_key_ring(request["keys"])
    sent_headers = request["request"]["headers"]
    sent = SentRequest(
        request["request"]["method"],
        request["request"]["path"],
        sent_headers["keyward-nonce"],
        sent_headers.get("authorization"),
        sent_headers.get("content-digest"),
    )
    try:
        answer = transmit(request["response"], sent.method)
        outcome, _ = judge(sent, answer, ring)
    except KeywardSignatureError as error:
        return {"outcome": "refused", "reason": error.code}
    except KeywardNetworkError as error:
        return {"outcome": "unavailable", "reason": error.code}
    if not is_signed(answer):
        return {"outcome": outcome}
    params = parse_dictionary(answer.header("signature-input"))["keyward"].params
    base = signature_base(sent, answer, int(params["created"].value), str(params["keyid"].value))
    return {"outcome": outcome, "signatureBase": base}


def check_signature(request: Request) -> Request:
    public_key, message, signature = (bytes.fromhex(request[name]) for name in ("publicKey", "message", "signature"))
    jwk = {"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": to_base64_url(public_key)}
    try:
        return {"valid": to_key_ring(jwk)["k"](message, signature)}
    except KeywardUsageError:
        return {"valid": False}


def transmit(response: Request, method: str) -> ReceivedAnswer:
    """Sends a response through a socket, so that the SDK reads it as it reads every other."""
    once = response["body"].encode("utf-8") if "body" in response else base64.b64decode(response["bodyBase64"])
    if any("\r" in value or "\n" in value for _, value in response["headers"]):
        # No connection carries such a value as one header.
        return ReceivedAnswer(response["status"], response["headers"], once)
    lines = [f"HTTP/1.1 {response['status']} X"]
    lines += [f"{name}: {value}" for name, value in response["headers"] if name.lower() != "content-length"]
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    here, there = socket.socketpair()

    def send() -> None:
        try:
            there.sendall(head)
            for _ in range(response.get("bodyRepeat", 1)):
                there.sendall(once)
        except OSError:
            pass
        finally:
            there.close()

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return receive(here, method, Deadline(60))
    finally:
        here.close()
        sender.join()


class Memory:
    def __init__(self, text: str) -> None:
        self.text = text

    def read(self) -> str:
        return self.text

    def write(self, text: str) -> None:
        self.text = text


def check_lease(request: Request) -> Request:
    latest, hwid = request["latest"], request["hwid"]
    now: float = request["now"]
    kept: Dict[str, Any] = {"lease": "", "latest": latest, "user": {}, "key": None}
    if request["type"] == "lease":
        kept["lease"] = request["lease"]
    else:
        kept["activation"] = {"pending": {"nonce": request["nonce"], "licenseKey": ""}}
    storage = Memory(json.dumps(kept))
    offline = Offline(storage, request["appId"], to_key_ring(request["keys"]), lambda: now)
    if request["type"] == "activation":
        return {"accepted": isinstance(offline.activate(request["lease"], hwid), OfflineAnswer)}
    answer = offline.answer(hwid, None)
    return {"accepted": True} if isinstance(answer, OfflineAnswer) else {"accepted": False, "problem": answer}


def hwid_of(request: Request) -> Request:
    return {"hwid": default_hwid(request["appId"], machine_of(request["machine"]))}


def hwid_of_sources(request: Request) -> Request:
    return {"hwid": default_hwid(request["appId"], machine_with(request))}


def machine_with(facts: Mapping[str, Any]) -> Machine:
    files = facts.get("files") or {}
    failures: Dict[str, int] = {}

    def read(path: str) -> str:
        found = files.get(path, {"error": "ENOENT"})
        if isinstance(found, str):
            return found
        failures[path] = failures.get(path, 0) + 1
        if "times" in found and failures[path] > found["times"]:
            return str(found["text"])
        raise OSError(getattr(errno, found["error"]), found["error"])

    def run(file: str, arguments: Sequence[str]) -> str:
        if file != "reg.exe":
            return f'"IOPlatformUUID" = "{read("ioplatform")}"\n' if "ioplatform" in files else ""
        return query(arguments, read("machine-guid") if "machine-guid" in files else None)

    macs = tuple(facts.get("macs") or ())
    return Machine(facts["platform"], facts.get("hostname", ""), "", macs, read, run)


def query(arguments: Sequence[str], value: Optional[str]) -> str:
    """What reg.exe prints; it ends with 1 if it is asked for a value that is missing."""
    if value is None and "/v" in arguments:
        raise subprocess.CalledProcessError(1, "reg.exe")
    key = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography"
    line = "" if value is None else f"    MachineGuid    REG_SZ    {value}\r\n"
    return f"\r\n{key}\r\n    OldMachineGuid    REG_SZ    0ld\r\n{line}\r\n{key}\\Services\r\n"


def machine_of(identity: str) -> Machine:
    """A machine with exactly one identity, ``source:id``."""
    source, _, value = identity.partition(":")
    linux = {"machine-id": "/etc/machine-id", "dmi": "/sys/class/dmi/id/product_uuid"}.get(source)
    if linux is not None:
        return machine_with({"platform": "linux", "files": {linux: value}})
    if source == "ioplatform":
        return machine_with({"platform": "darwin", "files": {"ioplatform": value}})
    if source == "machine-guid":
        return machine_with({"platform": "win32", "files": {"machine-guid": value}})
    if source == "hostid":
        return machine_with({"platform": "other", "files": {"/etc/hostid": value}})
    return machine_with({"platform": "linux", "macs": [value[:17]], "hostname": value[18:]})


def hash_of_part(request: Request) -> Request:
    part, value = request["part"], request["value"]
    files = {
        "machine": "/etc/machine-id",
        "board": "/sys/class/dmi/id/product_uuid",
        "disk": "/sys/block/nvme0n1/device/serial",
    }
    facts: Dict[str, Any] = {"macs": [value]} if part == "network" else {"files": {files[part]: value}}
    described = describe_device(request["appId"], machine_with({"platform": "linux", **facts}))
    return {"hash": described["parts"].get(part)}


def encode(request: Request) -> Request:
    nonce = bytes.fromhex(request["nonce"])
    return {"request": encode_request(request["appId"], request["hwid"], request["licenseKey"], nonce)}


def to_snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match.group().lower()}", name)


def camel(name: str) -> str:
    return "_id" if name == "id" else re.sub("_([a-z])", lambda match: match.group(1).upper(), name)


def to_camel(value: Any) -> Any:
    """A result with the names of the TypeScript SDK: what its attributes say, where the server sent them."""
    if isinstance(value, tuple):
        return [to_camel(each) for each in value]
    if not dataclasses.is_dataclass(value):
        return value
    raw = getattr(value, "raw", None)
    shown = dict(raw or {})
    for field in dataclasses.fields(value):
        found, name = getattr(value, field.name), camel(field.name)
        if field.name == "raw" or (raw is not None and name not in raw and name != "message"):
            continue
        shown[name] = to_camel(found)
    if hasattr(value, "ok"):
        if not value.ok:
            shown = {name: each for name, each in shown.items() if each is not None and each != []}
        shown = {name: each for name, each in shown.items() if name != "message" or each is not None}
        shown["ok"] = value.ok
    return shown


def to_error(error: Exception) -> Request:
    if not isinstance(error, KeywardError):
        return {"error": {"kind": "other", "code": repr(error)}}
    kinds = {"KeywardNetworkError": "network", "KeywardSignatureError": "signature"}
    facts = {
        "kind": kinds.get(type(error).__name__, "usage"),
        "code": error.code,
        "status": getattr(error, "status", None),
        "retryAfterMs": getattr(error, "retry_after_ms", None),
        "outcomeUnknown": getattr(error, "outcome_unknown", None),
        "offline": getattr(error, "offline", None),
    }
    return {"error": {name: value for name, value in facts.items() if value is not None}}


def answered(operation: Callable[[Request], Request], request: Request) -> Request:
    try:
        return operation(request)
    except Exception as error:
        return to_error(error)


OPERATIONS: Dict[str, Callable[[Request], Request]] = {
    "new": new,
    "now": set_now,
    "elapse": elapse,
    "call": call,
    "together": together,
    "events": take_events,
    "ed25519": check_signature,
    "judge": judge_case,
    "lease": check_lease,
    "hwid": hwid_of,
    "hwidSources": hwid_of_sources,
    "part": hash_of_part,
    "encodeRequest": encode,
}


def main() -> None:
    warnings.simplefilter("ignore", KeywardWarning)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        answer = answered(lambda each: OPERATIONS[each["op"]](each), request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
