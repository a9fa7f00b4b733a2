using System;
using System.Collections.Generic;

namespace Keyward.Internal
{
    // Written by packages/sdk/generate.ts from the contract.
    internal static class LeaseEndings
    {
        /// <summary>Refusals of the user, the key or the device; mistyped input is not one.</summary>
        public static readonly HashSet<string> Codes = new HashSet<string>(StringComparer.Ordinal)
        {
            LicenseState.UserBanned,
            LicenseState.KeyBanned,
            LicenseState.PausedSub,
            LicenseState.NoActiveSubs,
            LicenseState.UpdatesEnded,
            LicenseState.HwidBlacklisted,
            LicenseState.HwidMismatch,
            LicenseState.NotActivated,
            LicenseState.TrialUsed,
        };
    }
}
