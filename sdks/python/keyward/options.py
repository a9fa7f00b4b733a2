"""The options of a client, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from .address import Address, to_address
from .errors import KeywardUsageError
from .keys import KeyRing, to_key_ring
from .log import Log, LogEvent, to_log
from .offline import Offline
from .proxy import Proxy, check_proxy
from .text import utf16_length
from .user_data import Storage, UserDataFile


_APP_ID = re.compile(r"[\x21-\x7e]+")


class Default:
    """An option that was not given, where None means something else."""

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT = Default()

PublicKeys = Union[Sequence[Mapping[str, Any]], Mapping[str, Any]]
Hwid = Union[str, None, Callable[[], str], Default]


@dataclass(frozen=True)
class CheckedOptions:
    address: Address
    app_id: str
    secret: str = field(repr=False)
    keys: KeyRing
    version: str
    hash: Optional[str]
    locale: Optional[str]
    hwid: Hwid
    device: bool
    offline: Optional[Offline]
    timeout_s: float
    proxy: Optional[Proxy]
    log: Log


def check_options(
    *,
    base_url: str,
    app_id: str,
    secret: str,
    public_keys: PublicKeys,
    version: str,
    hash: Optional[str],
    locale: Optional[str],
    hwid: Hwid,
    device: Optional[bool],
    storage: Union[str, Storage, None],
    timeout_ms: float,
    proxy: Optional[str],
    log: Optional[Callable[[LogEvent], object]],
) -> CheckedOptions:
    """Raises ``KeywardUsageError`` (``invalid_options``) that names the first invalid one."""
    if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, (int, float)) or not 100 <= timeout_ms <= 600_000:
        raise _wrong("timeout_ms must be 100 to 600000")
    if hwid is not DEFAULT and hwid is not None and not callable(hwid):
        _text("hwid", hwid, 256)
    if log is not None and not callable(log):
        raise _wrong("log is not a function")
    address = to_address(_text("base_url", base_url, 2048))
    keys = to_key_ring(public_keys)
    if not _APP_ID.fullmatch(_text("app_id", app_id, 64)):
        raise _wrong("app_id has characters that no app id has")
    return CheckedOptions(
        address=address,
        app_id=app_id,
        secret=_text("secret", secret, 128),
        keys=keys,
        version=_text("version", version, 32),
        hash=None if hash is None else _text("hash", hash, 256),
        locale=None if locale is None else _text("locale", locale, 35),
        hwid=hwid,
        device=hwid is DEFAULT if device is None else bool(device),
        offline=_to_offline(storage, app_id, keys),
        timeout_s=timeout_ms / 1000,
        proxy=check_proxy(proxy),
        log=to_log(log),
    )


def _to_offline(storage: object, app_id: str, keys: KeyRing) -> Optional[Offline]:
    if storage is None:
        return None
    place = UserDataFile(app_id) if storage == "user-data" else storage
    if not isinstance(place, Storage):
        raise _wrong("storage must be 'user-data' or an object with read and write")
    return Offline(place, app_id, keys)


def _text(name: str, value: object, longest: int) -> str:
    if isinstance(value, str) and 1 <= utf16_length(value) <= longest:
        return value
    raise _wrong(f"{name} must be a text of 1 to {longest} characters")


def _wrong(message: str) -> KeywardUsageError:
    return KeywardUsageError("invalid_options", message)
