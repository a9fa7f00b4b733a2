"""The id of this machine, by which the server locks a license to it."""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import platform
import re
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Callable, List, Optional, Pattern, Sequence, Tuple

from .errors import KeywardUsageError
from .placeholder_ids import PLACEHOLDER_IDS
from .text import WHITE_SPACE, to_utf8, trim

Reader = Callable[[], str]

_LINUX_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid")
_CRYPTOGRAPHY_KEY = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography"
#: Only root may read ``product_uuid``, so a refusal there is as lasting as a missing file.
_ABSENT = frozenset([errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM])
#: All zeros or all ``f``, with any separators.
_BLANK = re.compile(r"[0\W]*|[f\W]*", re.ASCII)
_MIXED = re.compile(r"[0f-]*", re.ASCII)
_ATTEMPTS = 3
_PAUSE_S = 0.1
_COMMAND_TIMEOUT_S = 5

_NOT_SPACE = f"[^{WHITE_SPACE}]"
#: On one line: the text after an empty value is the name of a key, which all machines have.
MACHINE_GUID = re.compile(
    f"^[ \\t]*MachineGuid[ \\t]+REG_SZ[ \\t]+({_NOT_SPACE}+)", re.IGNORECASE | re.MULTILINE | re.ASCII
)
PLATFORM_UUID = re.compile(r'"IOPlatformUUID" = "([^"]+)"')
#: Asked for the value alone, reg.exe reports a missing one like every other failure.
QUERY_MACHINE_GUID = ("query", _CRYPTOGRAPHY_KEY, "/reg:64")
QUERY_PLATFORM = ("-rd1", "-c", "IOPlatformExpertDevice")
IOREG = "/usr/sbin/ioreg"
REG = "reg.exe"


def _read_file(path: str) -> str:
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "replace")


def _run(file: str, arguments: Sequence[str]) -> str:
    if file == REG:
        # The full path: a program of the same name earlier in PATH could fake the answer.
        file = os.path.join(os.environ.get("SystemRoot", "C:\\Windows"), "System32", REG)
    done = subprocess.run(
        [file, *arguments],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_COMMAND_TIMEOUT_S,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    return done.stdout.decode("utf-8", "replace")


@dataclass(frozen=True)
class Machine:
    """The properties of a machine that the hardware id is derived from."""

    #: As ``sys.platform``.
    platform: str
    hostname: str = ""
    #: Name and version of the operating system.
    system: str = ""
    #: MAC addresses of the network cards, as ``aa:bb:cc:dd:ee:ff``.
    macs: Tuple[str, ...] = ()
    read: Callable[[str], str] = field(default=_read_file)
    run: Callable[[str, Sequence[str]], str] = field(default=_run)


def this_machine() -> Machine:
    return Machine(sys.platform, socket.gethostname(), _system(), _mac_addresses())


def _mac_addresses() -> Tuple[str, ...]:
    try:
        from .network_cards import mac_addresses
    except ImportError:
        # Small builds of Python have no ctypes.
        return ()
    return mac_addresses()


def default_hwid(app_id: str, machine: Optional[Machine] = None) -> str:
    """
    A stable id of this machine for one app: HMAC-SHA256 over the machine's own id, keyed with the app id, as 64 hex
    digits. The raw id never leaves the machine, and two apps get unrelated ids. Raises ``KeywardUsageError``
    (``hwid_unavailable``) if the machine has no id of its own, and (``hwid_unreadable``) if it has one that three
    attempts could not read: another source would give the machine another id.
    """
    found = _find_machine_id(this_machine() if machine is None else machine)
    if found is None:
        message = "This machine has no id of its own. Pass the option hwid, or None to send none."
        raise KeywardUsageError("hwid_unavailable", message)
    return hash_machine_id(app_id, found)


def hash_machine_id(app_id: str, machine_id: str) -> str:
    """The hardware id for an app of a machine with an id of the form ``source:id``."""
    return hmac.new(to_utf8(f"keyward-hwid-v1:{app_id}"), to_utf8(machine_id), hashlib.sha256).hexdigest()


def _find_machine_id(machine: Machine) -> Optional[str]:
    for source, ask in _sources(machine):
        found = trim(_read_source(ask)).lower()
        if not is_placeholder(found) and not _MIXED.fullmatch(found):
            return f"{source}:{found}"
    return _network_id(machine)


def is_placeholder(text: str) -> bool:
    """Whether an id or a serial number identifies no machine; it is trimmed and in lower case."""
    return text in PLACEHOLDER_IDS or _BLANK.fullmatch(text) is not None


def _read_source(ask: Reader) -> str:
    """Returns an empty text if this machine does not have the source, or this user may never read it."""
    attempt = 1
    while True:
        try:
            return ask()
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _ABSENT:
                return ""
            if attempt == _ATTEMPTS:
                message = "The id of this machine could not be read. Try again later, or pass the option hwid."
                raise KeywardUsageError("hwid_unreadable", message) from error
        time.sleep(_PAUSE_S)
        attempt += 1


def _sources(machine: Machine) -> List[Tuple[str, Reader]]:
    if machine.platform.startswith("linux"):
        return [
            ("dmi" if path.endswith("product_uuid") else "machine-id", partial(machine.read, path))
            for path in _LINUX_FILES
        ]
    if machine.platform == "darwin":
        return [("ioplatform", lambda: matched(machine.run(IOREG, QUERY_PLATFORM), PLATFORM_UUID))]
    if machine.platform == "win32":
        return [("machine-guid", lambda: matched(machine.run(REG, QUERY_MACHINE_GUID), MACHINE_GUID))]
    return [("hostid", partial(machine.read, "/etc/hostid"))]


def matched(text: str, pattern: Pattern[str]) -> str:
    match = pattern.search(text)
    return match.group(1) if match else ""


def is_local(mac: str) -> bool:
    """Software assigns such addresses; they change with every container and tunnel."""
    try:
        return int(mac[:2], 16) & 2 != 0
    except ValueError:
        return False


def _network_id(machine: Machine) -> Optional[str]:
    """Fallback for containers and rare systems: the lowest MAC address and the host name."""
    real = [mac.lower() for mac in machine.macs if mac.lower() != "00:00:00:00:00:00"]
    usable = [mac for mac in real if not is_local(mac)] or real
    return f"network:{min(usable)}:{machine.hostname.lower()}" if usable else None


def _system() -> str:
    if sys.platform != "win32":
        return f"{platform.system()} {platform.release()}"
    try:
        import winreg

        path = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
            product = str(winreg.QueryValueEx(key, "ProductName")[0])
            build = int(winreg.QueryValueEx(key, "CurrentBuildNumber")[0])
        # Windows 11 kept the name of its predecessor there.
        return product.replace("Windows 10", "Windows 11") if build >= 22_000 else product
    except (OSError, ValueError):
        return f"Windows {platform.release()}"
