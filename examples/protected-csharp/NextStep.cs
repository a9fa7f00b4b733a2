using System;
using System.Collections.Generic;
using System.Globalization;
using Keyward;

/// <summary>What the customer can do now: one sentence per code, with the dates and numbers of the answer.</summary>
internal static class NextStep
{
    private static readonly Dictionary<string, string> NetworkSteps = new Dictionary<string, string>
    {
        ["lease_ended"] = "Tally has worked offline for as long as it may. Go online, then start Tally again.",
        ["clock_set_back"] = "The clock of this computer is behind. Correct it, or go online, then start Tally again.",
        ["captive_portal"] = "Sign in to your network in a browser, then start Tally again.",
        ["certificate"] = "Something on this network replaces the server. Try another network, or ask your administrator.",
        ["clock"] = "Correct the clock of this computer, then start Tally again.",
    };

    public static string After(KeywardResult refused)
    {
        RefusalDetails details = refused.Details;
        switch (refused.Code)
        {
            case "appDisabled": return "The vendor has ended this program. Ask the vendor what replaces it.";
            case "pausedApp": return "The vendor has paused this program. Try again later.";
            case "hashCheckFail": return "This copy is damaged or changed. Install Tally again.";
            case "sessionUnauthed": return "Start Tally once with --key YOUR-LICENSE-KEY.";
            case "keyNotFound": return "Check the key for typing mistakes.";
            case "keyBanned": return "Ask the vendor for another key.";
            case "pausedSub": return "Your license is paused. Ask the vendor when it goes on.";
            case "noActiveSubs": return "Your license ended" + Date(" on ", details?.ExpiresAt, "yyyy-MM-dd") + ". Renew it, then start Tally again.";
            case "updatesEnded": return "Your license does not cover this version. Install an earlier one, or renew your updates.";
            case "versionTooOld": return "Install " + (details?.Release == null ? "a newer version." : "version " + details.Release.Version + ".");
            case "hwidBlacklisted": return "The vendor has blocked this computer or address. Ask the vendor.";
            case "hwidMismatch": return "Your license is in use on " + Count(details?.Devices) + " computers. Ask the vendor to free one.";
            case "vpnBlocked": return "Turn off the VPN, then start Tally again.";
            case "noSeats": return "All " + Count(details?.Seats) + " seats are in use. Try again" + (details?.Until == null ? " later" : Date(" at ", details.Until, "u")) + ".";
            default: return "Ask the vendor.";
        }
    }

    public static string After(KeywardNetworkException error)
    {
        if (error.Offline != null && NetworkSteps.TryGetValue(error.Offline, out string step)) return step;
        if (error.RetryAfterMs != null) return "Try again in " + error.RetryAfterMs / 1000 + " seconds.";
        return NetworkSteps.TryGetValue(error.Code, out step) ? step : "Check your connection, then start Tally again.";
    }

    public static string Date(string before, DateTimeOffset? time, string form) =>
        time == null ? "" : before + time.Value.ToString(form, CultureInfo.InvariantCulture);

    private static string Count(DeviceUse use) => use == null ? "all" : use.Used + " of " + use.Limit;
}
