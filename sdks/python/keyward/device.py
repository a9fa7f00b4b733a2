"""What the SDK sends about the machine beside the hardware id."""

from __future__ import annotations

import hashlib
import hmac
import re
from functools import partial
from typing import Any, Dict, List, Optional, Pattern, Sequence

from .hwid import (
    IOREG,
    MACHINE_GUID,
    PLATFORM_UUID,
    QUERY_MACHINE_GUID,
    QUERY_PLATFORM,
    REG,
    Machine,
    Reader,
    is_local,
    is_placeholder,
    matched,
    this_machine,
)
from .text import WHITE_SPACE, shorten, to_utf8, trim

_MAX_TEXT = 256

_LINUX_BOARDS = (
    "/sys/class/dmi/id/product_uuid",
    "/sys/class/dmi/id/board_serial",
    "/sys/firmware/devicetree/base/serial-number",
)
_LINUX_DISKS = (
    "/sys/block/nvme0n1/device/serial",
    "/sys/block/sda/device/wwid",
    "/sys/block/vda/serial",
    "/sys/block/mmcblk0/device/cid",
)


def describe_device(app_id: str, machine: Optional[Machine] = None) -> Dict[str, Any]:
    """
    The name, the system and salted hashes of parts of this machine, so that the server recognizes it when its hardware
    id changes. What cannot be read is left out. Serial numbers never leave the machine unhashed.
    """
    machine = this_machine() if machine is None else machine
    parts = {}
    for name, value in _read_parts(machine).items():
        value = trim(value).lower()
        if not is_placeholder(value):
            parts[name] = hash_part(app_id, name, value)
    return {
        "name": shorten(machine.hostname, _MAX_TEXT),
        "system": shorten(machine.system, _MAX_TEXT),
        "parts": parts,
    }


def hash_part(app_id: str, name: str, value: str) -> str:
    """The salted hash of a part; ``value`` is trimmed and in lower case."""
    return hmac.new(to_utf8(f"keyward-part-v1:{app_id}:{name}"), to_utf8(value), hashlib.sha256).hexdigest()


def _read_parts(machine: Machine) -> Dict[str, str]:
    parts = {name: _first_of(readers) for name, readers in _part_readers(machine).items()}
    return {**parts, "network": _lowest_burned_in(machine.macs)}


def _first_of(readers: List[Reader]) -> str:
    for read in readers:
        try:
            value = trim(read())
        except Exception:
            continue
        if value != "":
            return value
    return ""


def _part_readers(machine: Machine) -> Dict[str, List[Reader]]:
    def files(*paths: str) -> List[Reader]:
        return [partial(machine.read, path) for path in paths]

    def found(file: str, arguments: Sequence[str], pattern: Pattern[str]) -> List[Reader]:
        return [lambda: matched(machine.run(file, arguments), pattern)]

    def registry(key: str, value: str, *more: str) -> List[Reader]:
        # On one line: the text after an empty value is the name of a key, which all machines have.
        pattern = f"{value}[ \t]+REG_SZ[ \t]+([^{WHITE_SPACE}][^\r\n\u2028\u2029]*)"
        return found(REG, ("query", key, *more, "/v", value), re.compile(pattern))

    if machine.platform.startswith("linux"):
        return {
            "machine": files("/etc/machine-id", "/var/lib/dbus/machine-id"),
            "board": files(*_LINUX_BOARDS),
            "disk": files(*_LINUX_DISKS),
        }
    if machine.platform == "darwin":
        serial = re.compile(r'"IOPlatformSerialNumber" = "([^"]+)"')
        disk = re.compile(r'"Serial Number" = "([^"]+)"')
        return {
            "machine": found(IOREG, QUERY_PLATFORM, PLATFORM_UUID),
            "board": found(IOREG, QUERY_PLATFORM, serial),
            "disk": found(IOREG, ("-rd1", "-c", "IONVMeController"), disk),
        }
    if machine.platform == "win32":
        return {
            "machine": found(REG, QUERY_MACHINE_GUID, MACHINE_GUID),
            "board": registry("HKEY_LOCAL_MACHINE\\SYSTEM\\HardwareConfig", "LastConfig"),
            "disk": registry("HKEY_LOCAL_MACHINE\\HARDWARE\\DEVICEMAP\\Scsi", "SerialNumber", "/s"),
        }
    return {"machine": files("/etc/hostid")}


def _lowest_burned_in(macs: Sequence[str]) -> str:
    burned_in = [mac.lower() for mac in macs if not is_local(mac) and not is_placeholder(mac.lower())]
    return min(burned_in, default="")
