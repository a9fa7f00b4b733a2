"""Puts a program behind a Keyward license: signed checks, hardware lock, offline leases."""

from .address import KeywardWarning
from .client import Keyward
from .codes import LicenseState
from .errors import (
    KeywardError,
    KeywardNetworkError,
    KeywardSignatureError,
    KeywardUsageError,
    NetworkErrorCode,
    OfflineProblem,
    SignatureErrorCode,
    UsageErrorCode,
)
from .log import LogEvent
from .results import (
    AppInfo,
    Device,
    DevicesData,
    DeviceUse,
    Granted,
    InitData,
    InputError,
    OfflineState,
    RefusalDetails,
    Refused,
    Seat,
    User,
    UserData,
    ValidatedLicense,
    ValidateData,
)
from .user_data import Storage
from .version import __version__

__all__ = [
    "AppInfo",
    "Device",
    "DeviceUse",
    "DevicesData",
    "Granted",
    "InitData",
    "InputError",
    "Keyward",
    "KeywardError",
    "KeywardNetworkError",
    "KeywardSignatureError",
    "KeywardUsageError",
    "KeywardWarning",
    "LicenseState",
    "LogEvent",
    "NetworkErrorCode",
    "OfflineProblem",
    "OfflineState",
    "RefusalDetails",
    "Refused",
    "Seat",
    "SignatureErrorCode",
    "Storage",
    "UsageErrorCode",
    "User",
    "UserData",
    "ValidateData",
    "ValidatedLicense",
    "__version__",
]
