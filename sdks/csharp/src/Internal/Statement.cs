using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>Statements that the server signs for one device, as compact JWS.</summary>
    internal static class Statement
    {
        /// <summary>Returns the claims if the text is one of this type, signed by a pinned key, for this app and this device; else null. Ignores the clock.</summary>
        public static Dictionary<string, object> Read(string text, string type, string appId, string hwid, KeyRing keys)
        {
            string[] parts = text.Split('.');
            if (parts.Length != 3) return null;
            byte[] header = Bytes.FromBase64Url(parts[0]);
            byte[] claims = Bytes.FromBase64Url(parts[1]);
            byte[] signature = Bytes.FromBase64Url(parts[2]);
            if (header == null || claims == null || signature == null || signature.Length != 64) return null;
            Dictionary<string, object> named = Parse(header);
            if (JsonText.Text(named, "alg") != "EdDSA" || JsonText.Text(named, "typ") != type) return null;
            string kid = JsonText.Text(named, "kid");
            VerifyKey key = kid == null ? null : keys.Find(kid);
            if (key == null || !key.Verify(Text.ToUtf8(parts[0] + "." + parts[1]), signature)) return null;
            Dictionary<string, object> found = Parse(claims);
            bool isOurs = JsonText.Text(found, "iss") == "keyward" && JsonText.Text(found, "aud") == appId && JsonText.Text(found, "hwid") == Secure.Sha256Hex(hwid);
            return isOurs ? found : null;
        }

        private static Dictionary<string, object> Parse(byte[] json) =>
            JsonText.TryParse(Text.FromUtf8(json), out object value) && value is Dictionary<string, object> found ? found : JsonText.Object();

        public static bool TrySeconds(Dictionary<string, object> claims, string name, out double seconds)
        {
            claims.TryGetValue(name, out object value);
            seconds = value is double number ? number : double.NaN;
            return seconds >= 0 && seconds < 253402300800 && Math.Floor(seconds) == seconds;
        }

        /// <summary>The ends of features that do not last as long as the statement, by name; most statements have none.</summary>
        public static Dictionary<string, double> FeatureEnds(Dictionary<string, object> claims)
        {
            var ends = new Dictionary<string, double>(StringComparer.Ordinal);
            Dictionary<string, object> claim = JsonText.Child(claims, "featuresUntil");
            foreach (string name in claim.Keys)
                if (TrySeconds(claim, name, out double end)) ends[name] = end;
            return ends;
        }

        /// <summary>The features that hold at a time, in seconds.</summary>
        public static List<object> FeaturesAt(List<object> features, Dictionary<string, double> ends, double now) =>
            features.Concat(ends.Where(each => now < each.Value && !features.Contains(each.Key)).Select(each => each.Key)).ToList();
    }

    /// <summary>A statement with which a program runs offline for a while; times in seconds since 1970.</summary>
    internal sealed class Lease
    {
        public string Subject;
        public double IssuedAt;
        public double Expires;
        public double RefreshAfter;
        public double GraceUntil;
        public double Sequence;
        public List<object> Features;
        public Dictionary<string, double> FeatureEnds;
        /// <summary>The variables that the vendor offers offline; servers of earlier versions send none.</summary>
        public Dictionary<string, object> Variables;

        public static Lease Read(string text, string appId, string hwid, KeyRing keys)
        {
            Dictionary<string, object> claims = Statement.Read(text, "keyward-lease+jws", appId, hwid, keys);
            if (claims == null) return null;
            var lease = new Lease { Subject = JsonText.Text(claims, "sub") };
            bool isComplete = lease.Subject != null &&
                Statement.TrySeconds(claims, "iat", out lease.IssuedAt) && Statement.TrySeconds(claims, "exp", out lease.Expires) &&
                Statement.TrySeconds(claims, "refreshAfter", out lease.RefreshAfter) && Statement.TrySeconds(claims, "graceUntil", out lease.GraceUntil) &&
                Statement.TrySeconds(claims, "seq", out lease.Sequence);
            lease.Features = claims.TryGetValue("features", out object features) ? features as List<object> : null;
            lease.FeatureEnds = Statement.FeatureEnds(claims);
            lease.Variables = JsonText.Child(claims, "variables").Where(each => each.Value is string).ToDictionary(each => each.Key, each => each.Value, StringComparer.Ordinal);
            return isComplete && lease.Features != null ? lease : null;
        }
    }

    /// <summary>The activation of a machine that is never online; times in seconds since 1970.</summary>
    internal sealed class Activation
    {
        public const int NonceBytes = 8;
        public const int LicenseKeyMax = 100;
        private const int CheckBytes = 4;
        /// <summary>The longest file that is read: as many lines as an app can have keys, and more.</summary>
        private const int FileLengthMax = 1000000;

        public string Subject;
        public string Nonce;
        public double IssuedAt;
        /// <summary>Null for never.</summary>
        public double? Expires;
        public string Deactivation;
        public Dictionary<string, double> FeatureEnds;
        private List<object> _features;
        private string _username;
        private string _term;
        /// <summary>When the license ends, without grace days; ISO 8601, null for never.</summary>
        private string _expiresAt;

        /// <summary>Verifies one line of a file. Looks neither at the clock nor at the nonce.</summary>
        public static Activation Read(string text, string appId, string hwid, KeyRing keys)
        {
            Dictionary<string, object> claims = Statement.Read(text, "keyward-activation+jws", appId, hwid, keys);
            // A missing end must not pass for none.
            if (claims == null || !claims.TryGetValue("exp", out object exp) || !claims.TryGetValue("expiresAt", out object expiresAt)) return null;
            var activation = new Activation
            {
                Subject = JsonText.Text(claims, "sub"),
                Nonce = JsonText.Text(claims, "nonce"),
                Deactivation = JsonText.Text(claims, "deactivation"),
                _username = JsonText.Text(claims, "username"),
                _term = JsonText.Text(claims, "term"),
                _features = claims.TryGetValue("features", out object features) ? features as List<object> : null,
                FeatureEnds = Statement.FeatureEnds(claims),
                _expiresAt = expiresAt as string,
            };
            double end = 0;
            bool isComplete = activation.Subject != null && activation.Nonce != null && activation.Deactivation != null && activation._username != null &&
                activation._term != null && activation._features != null && Statement.TrySeconds(claims, "iat", out activation.IssuedAt) &&
                (exp == null || Statement.TrySeconds(claims, "exp", out end)) && Statement.TrySeconds(claims, "seq", out _) &&
                (expiresAt == null || (activation._expiresAt != null && JsonText.TryTime(activation._expiresAt, out _)));
            if (!isComplete) return null;
            if (exp != null) activation.Expires = end;
            return activation;
        }

        /// <summary>The lines of a file: the same statement, signed once with each key.</summary>
        public static IEnumerable<string> LinesOf(string file) =>
            file.Length > FileLengthMax ? new string[0] : Text.Words(file);

        public OfflineAnswer Answer(double now)
        {
            string until = Expires == null ? null : Clock.ToIso(Expires.Value);
            bool hasEnded = _expiresAt != null && JsonText.TryTime(_expiresAt, out DateTimeOffset end) &&
                now >= (end.UtcDateTime - new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc)).TotalSeconds;
            var user = new Dictionary<string, object>(StringComparer.Ordinal)
            {
                ["_id"] = Subject,
                ["username"] = _username,
                ["email"] = null,
                ["expiresAt"] = _expiresAt,
                ["inGrace"] = hasEnded,
                ["term"] = _term,
                ["createdAt"] = Clock.ToIso(IssuedAt),
                ["lastLoginAt"] = null,
                ["hwidBound"] = true,
                ["features"] = Statement.FeaturesAt(_features, FeatureEnds, now),
                ["variables"] = JsonText.Object(),
                ["updatesUntil"] = null,
                ["devices"] = JsonText.Object("used", 1.0, "limit", 1.0),
                ["seat"] = null,
            };
            var state = new Dictionary<string, object>(StringComparer.Ordinal) { ["until"] = until, ["graceUntil"] = until, ["inGrace"] = false };
            return new OfflineAnswer { User = user, State = state };
        }

        /// <summary>The request of a machine that is never online, as the vendor's console reads it.</summary>
        public static string EncodeRequest(string appId, string hwid, string licenseKey, byte[] nonce)
        {
            byte[] body = new byte[] { 1 }.Concat(nonce).Concat(Secure.Sha256(Text.ToUtf8(hwid))).Concat(Text.ToUtf8(licenseKey)).ToArray();
            byte[] digest = Secure.Sha256(Text.ToUtf8(appId).Concat(body).ToArray());
            string symbols = ToCrockford(body.Concat(digest.Take(CheckBytes)).ToArray());
            var text = new StringBuilder("KWR1");
            for (int at = 0; at < symbols.Length; at += 5) text.Append('-').Append(symbols, at, Math.Min(5, symbols.Length - at));
            return text.ToString();
        }

        /// <summary>Crockford base32 in upper case without padding; zero bits fill the last symbol.</summary>
        private static string ToCrockford(byte[] bytes)
        {
            const string symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
            var text = new StringBuilder();
            int bits = 0;
            int value = 0;
            foreach (byte each in bytes)
            {
                value = ((value << 8) | each) & 0xfff;
                for (bits += 8; bits >= 5; bits -= 5) text.Append(symbols[(value >> (bits - 5)) & 31]);
            }
            if (bits > 0) text.Append(symbols[(value << (5 - bits)) & 31]);
            return text.ToString();
        }
    }
}
