# Written by packages/sdk/generate.ts from the contract.

from typing import Literal

#: Why the server refuses, by the name of the message that the app's owner can edit.
LicenseState = Literal[
    "appDisabled",
    "usernameTaken",
    "keyNotFound",
    "keyUsed",
    "usernameNotFound",
    "passMismatch",
    "hwidMismatch",
    "noActiveSubs",
    "hwidBlacklisted",
    "pausedSub",
    "vpnBlocked",
    "keyBanned",
    "userBanned",
    "sessionUnauthed",
    "hashCheckFail",
    "pausedApp",
    "unTooShort",
    "pwLeaked",
    "noSeats",
    "updatesEnded",
    "versionTooOld",
    "trialUsed",
    "notActivated",
]
