using System;
using System.Collections.Generic;
using System.Linq;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>Pages of the vendor's shop, which know the license: a program opens them for its user.</summary>
    public sealed class Links
    {
        /// <summary>Where to buy a license; null if the vendor has set none, like the others.</summary>
        public string Buy { get; }
        public string Renew { get; }
        public IReadOnlyList<UpgradeLink> Upgrades { get; }

        private Links(Dictionary<string, object> json)
        {
            Buy = JsonText.Text(json, "buy");
            Renew = JsonText.Text(json, "renew");
            Upgrades = json.TryGetValue("upgrades", out object list) && list is List<object> links
                ? links.OfType<Dictionary<string, object>>().Select(each => new UpgradeLink(each)).ToList()
                : new List<UpgradeLink>();
        }

        internal static Links From(Dictionary<string, object> json) =>
            json.TryGetValue("links", out object value) && value is Dictionary<string, object> links ? new Links(links) : null;
    }

    /// <summary>A page of the vendor's shop for another type of license.</summary>
    public sealed class UpgradeLink
    {
        public string Name { get; }
        public string Url { get; }

        internal UpgradeLink(Dictionary<string, object> json)
        {
            Name = JsonText.Text(json, "name");
            Url = JsonText.Text(json, "url");
        }
    }

    /// <summary>A vulnerability of the program's version.</summary>
    public sealed class Advisory
    {
        /// <summary>The version that repairs it; null if none is left.</summary>
        public string Version { get; }
        /// <summary><c>low</c>, <c>medium</c>, <c>high</c> or <c>critical</c>.</summary>
        public string Severity { get; }
        public string Summary { get; }
        /// <summary>A page about it.</summary>
        public string Url { get; }

        private Advisory(Dictionary<string, object> json)
        {
            Version = JsonText.Text(json, "version");
            Severity = JsonText.Text(json, "severity");
            Summary = JsonText.Text(json, "summary");
            Url = JsonText.Text(json, "url");
        }

        internal static Advisory From(Dictionary<string, object> json) =>
            json.TryGetValue("advisory", out object value) && value is Dictionary<string, object> advisory ? new Advisory(advisory) : null;
    }

    /// <summary>The newest version that a license may use, or a newer one that it does not cover.</summary>
    public sealed class NamedRelease
    {
        public string Version { get; }
        public string Url { get; }
        /// <summary>Where to renew, with a version that the license does not cover.</summary>
        public Links Links { get; }

        private NamedRelease(Dictionary<string, object> json)
        {
            Version = JsonText.Text(json, "version");
            Url = JsonText.Text(json, "url");
            Links = Links.From(json);
        }

        internal static NamedRelease From(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is Dictionary<string, object> release ? new NamedRelease(release) : null;
    }

    /// <summary>The result of <see cref="KeywardClient.CheckForUpdateAsync"/>.</summary>
    public sealed class UpdateResult : KeywardResult
    {
        /// <summary>The newest version that the license covers and that this one may update to; null if there is none.</summary>
        public Update Update { get; }
        /// <summary>A newer version that the license does not cover, and where to renew; null if there is none.</summary>
        public NamedRelease Beyond { get; }

        internal UpdateResult(Dictionary<string, object> json) : base(json)
        {
            if (json.TryGetValue("update", out object update) && update is Dictionary<string, object> found) Update = new Update(found);
            Beyond = NamedRelease.From(json, "beyond");
        }
    }

    /// <summary>A version to update to.</summary>
    public sealed class Update
    {
        public string Version { get; }
        public DateTimeOffset? ReleasedAt { get; }
        /// <summary>Markdown.</summary>
        public string Notes { get; }
        /// <summary>Where people download it.</summary>
        public string Url { get; }
        /// <summary>The file for this machine; null for a release without files.</summary>
        public Artifact Artifact { get; }
        /// <summary>Set for a release that repairs a vulnerability.</summary>
        public SecurityFix Security { get; }

        internal Update(Dictionary<string, object> json)
        {
            Version = JsonText.Text(json, "version");
            ReleasedAt = JsonText.Time(json, "releasedAt");
            Notes = JsonText.Text(json, "notes");
            Url = JsonText.Text(json, "url");
            if (json.TryGetValue("artifact", out object artifact) && artifact is Dictionary<string, object> file) Artifact = new Artifact(file);
            if (json.TryGetValue("security", out object security) && security is Dictionary<string, object> fix) Security = new SecurityFix(fix);
        }
    }

    /// <summary>What a release repairs.</summary>
    public sealed class SecurityFix
    {
        public string Severity { get; }
        public string Summary { get; }
        /// <summary>A page about the vulnerability.</summary>
        public string Advisory { get; }

        internal SecurityFix(Dictionary<string, object> json)
        {
            Severity = JsonText.Text(json, "severity");
            Summary = JsonText.Text(json, "summary");
            Advisory = JsonText.Text(json, "advisory");
        }
    }

    /// <summary>A file of a release. Digests are in lower-case hex.</summary>
    public sealed class Artifact
    {
        public string Platform { get; }
        public string Architecture { get; }
        /// <summary>Such as <c>installer</c>, <c>archive</c>, <c>full</c> or <c>delta</c>.</summary>
        public string Kind { get; }
        public string Name { get; }
        public string Url { get; }
        /// <summary>Bytes.</summary>
        public long Size { get; }
        public string Sha512 { get; }
        public string Sha256 { get; }
        public string Sha1 { get; }
        /// <summary>The vendor's own.</summary>
        public string Signature { get; }

        internal Artifact(Dictionary<string, object> json)
        {
            Platform = JsonText.Text(json, "platform");
            Architecture = JsonText.Text(json, "architecture");
            Kind = JsonText.Text(json, "kind");
            Name = JsonText.Text(json, "name");
            Url = JsonText.Text(json, "url");
            bool isWhole = json.TryGetValue("size", out object size) && size is double bytes && bytes >= 1 && bytes < 9007199254740992 && Math.Floor(bytes) == bytes;
            Size = isWhole ? (long)(double)json["size"] : 0;
            Sha512 = JsonText.Text(json, "sha512");
            Sha256 = JsonText.Text(json, "sha256");
            Sha1 = JsonText.Text(json, "sha1");
            Signature = JsonText.Text(json, "signature");
        }
    }
}
