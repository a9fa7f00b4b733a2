namespace Keyward
{
    // Written by packages/sdk/generate.ts from the contract.
    /// <summary>Why the server refuses, by the name of the message that the app's owner can edit. Newer servers may send others.</summary>
    public static class LicenseState
    {
        public const string AppDisabled = "appDisabled";
        public const string UsernameTaken = "usernameTaken";
        public const string KeyNotFound = "keyNotFound";
        public const string KeyUsed = "keyUsed";
        public const string UsernameNotFound = "usernameNotFound";
        public const string PassMismatch = "passMismatch";
        public const string HwidMismatch = "hwidMismatch";
        public const string NoActiveSubs = "noActiveSubs";
        public const string HwidBlacklisted = "hwidBlacklisted";
        public const string PausedSub = "pausedSub";
        public const string VpnBlocked = "vpnBlocked";
        public const string KeyBanned = "keyBanned";
        public const string UserBanned = "userBanned";
        public const string SessionUnauthed = "sessionUnauthed";
        public const string HashCheckFail = "hashCheckFail";
        public const string PausedApp = "pausedApp";
        public const string UnTooShort = "unTooShort";
        public const string PwLeaked = "pwLeaked";
        public const string NoSeats = "noSeats";
        public const string UpdatesEnded = "updatesEnded";
        public const string VersionTooOld = "versionTooOld";
        public const string TrialUsed = "trialUsed";
        public const string NotActivated = "notActivated";
    }
}
