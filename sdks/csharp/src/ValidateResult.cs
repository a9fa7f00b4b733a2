using System;
using System.Collections.Generic;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>The result of <see cref="KeywardClient.ValidateAsync"/>.</summary>
    public sealed class ValidateResult : KeywardResult
    {
        public ValidatedLicense License { get; }
        /// <summary>Whether this machine is a device of the license. False for an unused key: it is valid on any number of machines.</summary>
        public bool Activated { get; }

        internal ValidateResult(Dictionary<string, object> json) : base(json)
        {
            if (!Ok) return;
            License = new ValidatedLicense(JsonText.Child(json, "license"));
            Activated = JsonText.Flag(json, "activated");
        }
    }

    public sealed class ValidatedLicense
    {
        public string Key { get; }
        public bool Used { get; }
        public string Username { get; }
        /// <summary>Null if it never expires, or if its duration starts with the first use.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        public bool InGrace { get; }
        /// <summary><c>date</c>, <c>forever</c> or <c>first_use</c>.</summary>
        public string Term { get; }

        internal ValidatedLicense(Dictionary<string, object> json)
        {
            Key = JsonText.Text(json, "key");
            Used = JsonText.Flag(json, "used");
            Username = JsonText.Text(json, "username");
            ExpiresAt = JsonText.Time(json, "expiresAt");
            InGrace = JsonText.Flag(json, "inGrace");
            Term = JsonText.Text(json, "term");
        }
    }
}
