using System.Linq;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>A public key of an app: an Ed25519 JSON Web Key.</summary>
    public sealed class PublicJwk
    {
        public string Kty { get; set; } = "OKP";
        public string Crv { get; set; } = "Ed25519";
        public string Kid { get; set; }
        public string X { get; set; }
        public string Use { get; set; }
        /// <summary><c>next</c>, <c>current</c> or <c>retired</c>; a <c>revoked</c> key is ignored.</summary>
        public string Status { get; set; }
    }

    /// <summary>The app's public keys. Arrays of keys, one key and JSON texts convert by themselves.</summary>
    public sealed class PublicKeySet
    {
        /// <summary>In the form of parsed JSON; null for a text that is not JSON.</summary>
        internal readonly object Json;

        private PublicKeySet(object json) { Json = json; }

        /// <summary>Reads a JWK, an array of them, or a JWK set. The client's constructor reports a broken text.</summary>
        public static PublicKeySet Parse(string json) =>
            new PublicKeySet(JsonText.TryParse(json, out object value) ? value : null);

        public static implicit operator PublicKeySet(string json) => Parse(json);

        public static implicit operator PublicKeySet(PublicJwk key) => new[] { key };

        public static implicit operator PublicKeySet(PublicJwk[] keys) => new PublicKeySet(keys?.Select(ToJson).ToList());

        private static object ToJson(PublicJwk key) => key == null
            ? null
            : JsonText.Object("kty", key.Kty, "crv", key.Crv, "kid", key.Kid, "x", key.X, "use", key.Use, "status", key.Status);
    }
}
