using System;
using System.Collections.Generic;
using System.Linq;

namespace Keyward.Internal
{
    /// <summary>The pinned keys, by key id.</summary>
    internal sealed class KeyRing
    {
        private readonly Dictionary<string, VerifyKey> _keys = new Dictionary<string, VerifyKey>(StringComparer.Ordinal);

        /// <summary>In the order of the set.</summary>
        public readonly List<string> Ids = new List<string>();

        public VerifyKey Find(string id) => _keys.TryGetValue(id, out VerifyKey key) ? key : null;

        /// <summary>
        /// Reads the Ed25519 signing keys of a JWK set and ignores keys of other kinds, as RFC 7517 requires. Throws if no key is left,
        /// or one is malformed or private.
        /// </summary>
        public static KeyRing From(PublicKeySet set)
        {
            var ring = new KeyRing();
            foreach (object each in ToList(set?.Json))
            {
                if (!(each is Dictionary<string, object> jwk)) throw Wrong("a key is not an object");
                if (jwk.ContainsKey("d")) throw Wrong("a private key must never be part of a program");
                string use = jwk.TryGetValue("use", out object named) && named != null ? named as string : "sig";
                if (JsonText.Text(jwk, "kty") != "OKP" || JsonText.Text(jwk, "crv") != "Ed25519" || use != "sig") continue;
                if (JsonText.Text(jwk, "status") == "revoked") continue;
                string kid = JsonText.Text(jwk, "kid");
                // A comma would separate two ids in Keyward-Keys.
                if (string.IsNullOrEmpty(kid) || kid.Length > 256 || kid.Any(letter => letter < ' ' || letter > '~' || letter == ',')) throw Wrong("a key has no kid");
                if (ring._keys.ContainsKey(kid)) throw Wrong("kid " + kid + " is there twice");
                byte[] x = Bytes.FromBase64Url(JsonText.Text(jwk, "x"));
                if (x == null || x.Length != 32) throw Wrong("the key " + kid + " is broken");
                ring._keys.Add(kid, new VerifyKey(x));
                ring.Ids.Add(kid);
            }
            if (ring.Ids.Count == 0) throw Wrong("expected at least one Ed25519 key");
            return ring;
        }

        private static List<object> ToList(object json)
        {
            if (json is List<object> list) return list;
            if (!(json is Dictionary<string, object> set)) throw Wrong("expected a JWK set");
            if (!set.TryGetValue("keys", out object keys)) return new List<object> { set };
            return keys as List<object> ?? throw Wrong("expected an array of keys");
        }

        private static KeywardUsageException Wrong(string message) => CheckedOptions.Wrong("PublicKeys: " + message);
    }
}
