using System;
using System.Collections.Generic;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>The signed-in end user.</summary>
    public sealed class SessionUser
    {
        public string Id { get; }
        /// <summary>The license key itself for users who signed in by key alone.</summary>
        public string Username { get; }
        public string Email { get; }
        /// <summary>When the license ends; null if it never expires.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        /// <summary>True after <see cref="ExpiresAt"/>, while the vendor's grace days still allow access.</summary>
        public bool InGrace { get; }
        /// <summary><c>date</c>: until a date; <c>forever</c>: never expires; <c>first_use</c>: for a duration since the first use.</summary>
        public string Term { get; }
        public DateTimeOffset? CreatedAt { get; }
        public DateTimeOffset? LastLoginAt { get; }
        /// <summary>Whether the user is bound to a machine.</summary>
        public bool HwidBound { get; }
        /// <summary>Names of the features that the license includes; see <see cref="KeywardClient.Has"/>.</summary>
        public IReadOnlyList<string> Features { get; }
        /// <summary>The app's variables for signed-in users, and the user's own; see <see cref="KeywardClient.Variable"/>.</summary>
        public IReadOnlyDictionary<string, string> Variables { get; }
        /// <summary>The license covers versions released until then; null if it covers all.</summary>
        public DateTimeOffset? UpdatesUntil { get; }
        /// <summary>How many devices the user has, of how many.</summary>
        public DeviceUse Devices { get; }
        /// <summary>When the seat of a floating license ends: call <c>SessionAsync</c> before. Null for other licenses.</summary>
        public DateTimeOffset? SeatUntil { get; }
        /// <summary>True if the license covers a newer version; null from servers that do not say, and offline what they said last.</summary>
        public bool? UpdateAvailable { get; }
        /// <summary>Where to buy, renew and upgrade: after a sign-in, <c>TrialAsync</c> and <c>UpgradeAsync</c>, not after <c>SessionAsync</c>.</summary>
        public Links Links { get; }

        internal SessionUser(Dictionary<string, object> json)
        {
            Id = JsonText.Text(json, "_id");
            Username = JsonText.Text(json, "username");
            Email = JsonText.Text(json, "email");
            ExpiresAt = JsonText.Time(json, "expiresAt");
            InGrace = JsonText.Flag(json, "inGrace");
            Term = JsonText.Text(json, "term");
            CreatedAt = JsonText.Time(json, "createdAt");
            LastLoginAt = JsonText.Time(json, "lastLoginAt");
            HwidBound = JsonText.Flag(json, "hwidBound");
            Features = JsonText.TextList(json, "features");
            Variables = JsonText.Texts(json, "variables");
            UpdatesUntil = JsonText.Time(json, "updatesUntil");
            Devices = DeviceUse.From(json, "devices");
            SeatUntil = JsonText.Time(JsonText.Child(json, "seat"), "until");
            UpdateAvailable = json.TryGetValue("updateAvailable", out object isNewer) ? isNewer as bool? : null;
            Links = Links.From(json);
        }
    }

    /// <summary>How many are used, of how many; a limit of -1 is unlimited.</summary>
    public sealed class DeviceUse
    {
        public int Used { get; }
        public int Limit { get; }

        private DeviceUse(Dictionary<string, object> json)
        {
            Used = JsonText.Integer(json, "used");
            Limit = JsonText.Integer(json, "limit");
        }

        internal static DeviceUse From(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is Dictionary<string, object> use ? new DeviceUse(use) : null;
    }

    /// <summary>How long a program may go on without the server.</summary>
    public sealed class OfflineState
    {
        /// <summary>When the lease or the activation ends; null if the activation never ends.</summary>
        public DateTimeOffset? Until { get; }
        /// <summary>When the program must stop; null for never.</summary>
        public DateTimeOffset? GraceUntil { get; }
        /// <summary>True between the two: tell the user to go online.</summary>
        public bool InGrace { get; }

        internal OfflineState(Dictionary<string, object> json)
        {
            Until = JsonText.Time(json, "until");
            GraceUntil = JsonText.Time(json, "graceUntil");
            InGrace = JsonText.Flag(json, "inGrace");
        }
    }
}
