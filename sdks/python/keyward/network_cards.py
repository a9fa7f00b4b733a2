"""The MAC addresses of the network cards that are up and have an IP address, without loopback."""

from __future__ import annotations

import ctypes
import socket
import sys
from typing import Any, Dict, Iterator, List, Set, Tuple

_UP, _LOOPBACK, _RUNNING = 0x1, 0x8, 0x40
_LINK = 17 if sys.platform.startswith("linux") else 18
_INTERNET = (int(socket.AF_INET), int(socket.AF_INET6))
_MAC_BYTES = 6


def mac_addresses() -> Tuple[str, ...]:
    """As ``aa:bb:cc:dd:ee:ff``; none where the system does not say."""
    try:
        found = _windows_cards() if sys.platform == "win32" else _posix_cards()
    except Exception:
        return ()
    return tuple(":".join(f"{byte:02x}" for byte in mac) for mac in found)


class _IfAddrs(ctypes.Structure):
    pass


_IfAddrs._fields_ = [
    ("next", ctypes.POINTER(_IfAddrs)),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint),
    ("address", ctypes.c_void_p),
    ("netmask", ctypes.c_void_p),
    ("destination", ctypes.c_void_p),
    ("data", ctypes.c_void_p),
]


def _posix_cards() -> List[bytes]:
    libc = ctypes.CDLL(None)
    first = ctypes.POINTER(_IfAddrs)()
    if libc.getifaddrs(ctypes.byref(first)) != 0:
        return []
    named: Set[bytes] = set()
    macs: Dict[bytes, bytes] = {}
    try:
        for entry in _entries(first):
            if not entry.address or entry.flags & (_UP | _RUNNING) != _UP | _RUNNING or entry.flags & _LOOPBACK:
                continue
            family = _family(entry.address)
            if family in _INTERNET:
                # An alias, such as eth0:1, has the address of its card.
                named.add(entry.name.split(b":")[0])
            elif family == _LINK:
                macs[entry.name] = _link_address(entry.address)
    finally:
        libc.freeifaddrs(first)
    return [macs[name] for name in sorted(named) if len(macs.get(name, b"")) == _MAC_BYTES]


def _entries(pointer: Any) -> Iterator[Any]:
    while pointer:
        yield pointer.contents
        pointer = pointer.contents.next


def _family(address: int) -> int:
    if sys.platform.startswith("linux"):
        return ctypes.c_ushort.from_address(address).value
    # BSD systems, macOS included, have the length in the first byte.
    return ctypes.c_ubyte.from_address(address + 1).value


def _link_address(address: int) -> bytes:
    if sys.platform.startswith("linux"):
        # sockaddr_ll: family, protocol, index, hardware type, packet type, length, address
        return ctypes.string_at(address + 12, ctypes.c_ubyte.from_address(address + 11).value)
    # sockaddr_dl: length, family, index, type, name length, address length, selector length, name, address
    name_length = ctypes.c_ubyte.from_address(address + 5).value
    return ctypes.string_at(address + 8 + name_length, ctypes.c_ubyte.from_address(address + 6).value)


class _Adapter(ctypes.Structure):
    """The first members of ``IP_ADAPTER_ADDRESSES``."""


_Adapter._fields_ = [
    ("length", ctypes.c_uint32),
    ("index", ctypes.c_uint32),
    ("next", ctypes.POINTER(_Adapter)),
    ("name", ctypes.c_char_p),
    ("unicast", ctypes.c_void_p),
    ("anycast", ctypes.c_void_p),
    ("multicast", ctypes.c_void_p),
    ("dns_servers", ctypes.c_void_p),
    ("dns_suffix", ctypes.c_wchar_p),
    ("description", ctypes.c_wchar_p),
    ("friendly_name", ctypes.c_wchar_p),
    ("address", ctypes.c_ubyte * 8),
    ("address_length", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("mtu", ctypes.c_uint32),
    ("type", ctypes.c_uint32),
    ("status", ctypes.c_int),
]

_STATUS_UP, _TYPE_LOOPBACK, _BUFFER_OVERFLOW = 1, 24, 111
#: Without anycast, multicast and DNS server addresses.
_SKIP = 0x2 | 0x4 | 0x8


def _windows_cards() -> List[bytes]:
    library = ctypes.WinDLL("iphlpapi.dll")  # type: ignore[attr-defined]
    size = ctypes.c_uint32(15_000)
    for _ in range(5):
        buffer = ctypes.create_string_buffer(size.value)
        status = library.GetAdaptersAddresses(0, _SKIP, None, buffer, ctypes.byref(size))
        if status == 0:
            first = ctypes.cast(buffer, ctypes.POINTER(_Adapter))
            return [
                bytes(entry.address[:_MAC_BYTES])
                for entry in _entries(first)
                if entry.status == _STATUS_UP
                and entry.unicast
                and entry.type != _TYPE_LOOPBACK
                and entry.address_length == _MAC_BYTES
            ]
        if status != _BUFFER_OVERFLOW:
            return []
    return []
