using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>The result of a call: check <see cref="Ok"/> first and deny access unless it is true.</summary>
    public class KeywardResult
    {
        /// <summary>True for a verified success, false for a verified refusal.</summary>
        public bool Ok { get; }
        /// <summary>Why the server refuses: a <see cref="LicenseState"/>, or a general code such as <c>invalid_input</c>. Null after a success.</summary>
        public string Code { get; }
        /// <summary>The text to show to the end user.</summary>
        public string Message { get; }
        /// <summary>Names this refusal: show it to the end user, and the app's owner finds the reason in the console.</summary>
        public string Reference { get; }
        /// <summary>Facts for the end user; only after the password or the license key was right.</summary>
        public RefusalDetails Details { get; }
        /// <summary>Invalid inputs, if <see cref="Code"/> is <c>invalid_input</c>.</summary>
        public IReadOnlyList<InputError> Errors { get; }
        /// <summary>
        /// The whole result as parsed JSON, with the fields of newer servers: texts, numbers (double), truth values, null, lists and
        /// dictionaries.
        /// </summary>
        public IReadOnlyDictionary<string, object> Data => Json;

        internal readonly Dictionary<string, object> Json;

        internal KeywardResult(Dictionary<string, object> json)
        {
            Json = json;
            Ok = json.TryGetValue("ok", out object ok) && true.Equals(ok);
            Message = JsonText.Text(json, "message");
            if (Ok) return;
            Code = JsonText.Text(json, "code");
            Reference = JsonText.Text(json, "reference");
            if (json.TryGetValue("details", out object details) && details is Dictionary<string, object> facts) Details = new RefusalDetails(facts);
            if (json.TryGetValue("errors", out object errors) && errors is List<object> list)
                Errors = list.OfType<Dictionary<string, object>>().Select(each => new InputError(each)).ToList();
        }
    }

    /// <summary>An input that the server does not accept.</summary>
    public sealed class InputError
    {
        public string Path { get; }
        public string Message { get; }

        internal InputError(Dictionary<string, object> json)
        {
            Path = JsonText.Text(json, "path");
            Message = JsonText.Text(json, "message");
        }
    }

    /// <summary>Facts behind a refusal. Newer servers may send more, see <see cref="Data"/>.</summary>
    public sealed class RefusalDetails
    {
        /// <summary>When the license ends or ended; null for never.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        /// <summary>When a license that counts from its first use was first used.</summary>
        public DateTimeOffset? StartedAt { get; }
        /// <summary>When the call may succeed: the next seat or the next device becomes free.</summary>
        public DateTimeOffset? Until { get; }
        public DeviceUse Devices { get; }
        public DeviceUse Seats { get; }
        /// <summary>Where to buy, renew and upgrade, with refusals that a purchase mends; else null.</summary>
        public Links Links { get; }
        /// <summary>With <c>updatesEnded</c> and <c>versionTooOld</c>: the newest version that the license may use.</summary>
        public NamedRelease Release { get; }
        /// <summary>A vulnerability of the program's version; null if none is known.</summary>
        public Advisory Advisory { get; }
        public IReadOnlyDictionary<string, object> Data { get; }

        internal RefusalDetails(Dictionary<string, object> json)
        {
            ExpiresAt = JsonText.Time(json, "expiresAt");
            StartedAt = JsonText.Time(json, "startedAt");
            Until = JsonText.Time(json, "until");
            Devices = DeviceUse.From(json, "devices");
            Seats = DeviceUse.From(json, "seats");
            Links = Links.From(json);
            Release = NamedRelease.From(json, "release");
            Advisory = Advisory.From(json);
            Data = json;
        }
    }

    /// <summary>The result of <see cref="KeywardClient.InitAsync"/>.</summary>
    public sealed class InitResult : KeywardResult
    {
        /// <summary>When the session expires unless it is used.</summary>
        public DateTimeOffset? ExpiresAt { get; }
        public string AppName { get; }
        /// <summary>The app's current version on the server.</summary>
        public string AppVersion { get; }
        /// <summary>True when the server's version is newer than the one given to the constructor.</summary>
        public bool UpdateAvailable { get; }
        /// <summary>The app's public variables by name; see <see cref="KeywardClient.Variable"/>.</summary>
        public IReadOnlyDictionary<string, string> Variables { get; }
        /// <summary>A vulnerability of the program's version; null if none is known.</summary>
        public Advisory Advisory { get; }

        internal InitResult(Dictionary<string, object> json) : base(json)
        {
            ExpiresAt = JsonText.Time(json, "expiresAt");
            Dictionary<string, object> app = JsonText.Child(json, "app");
            AppName = JsonText.Text(app, "name");
            AppVersion = JsonText.Text(app, "version");
            UpdateAvailable = JsonText.Flag(json, "updateAvailable");
            Variables = JsonText.Texts(json, "variables");
            Advisory = Advisory.From(json);
        }
    }

    /// <summary>The result of a sign-in and of <see cref="KeywardClient.SessionAsync"/>.</summary>
    public sealed class UserResult : KeywardResult
    {
        /// <summary>The signed-in end user; null after a refusal.</summary>
        public SessionUser User { get; }
        /// <summary>Set if a lease or an activation of this machine stands in for the server.</summary>
        public OfflineState Offline { get; }
        /// <summary>A vulnerability of the program's version: after <c>SessionAsync</c> alone.</summary>
        public Advisory Advisory { get; }

        internal UserResult(Dictionary<string, object> json) : base(json)
        {
            if (!Ok) return;
            User = new SessionUser(JsonText.Child(json, "user"));
            Advisory = Advisory.From(json);
            if (json.ContainsKey("offline")) Offline = new OfflineState(JsonText.Child(json, "offline"));
        }
    }
}
