using System;

namespace Keyward.Internal
{
    /// <summary>A public key of Ed25519 (RFC 8032), which .NET Standard does not have.</summary>
    internal sealed class VerifyKey
    {
        private readonly byte[] _bytes;
        /// <summary>Odd multiples of the negated point; null if the bytes are no point.</summary>
        private readonly Lazy<Ed25519.Point[]> _multiples;

        public VerifyKey(byte[] bytes)
        {
            _bytes = bytes;
            _multiples = new Lazy<Ed25519.Point[]>(() => Ed25519.Point.Decode(bytes)?.Negated().OddMultiples());
        }

        public bool Verify(byte[] message, byte[] signature) => Ed25519.Verify(_bytes, _multiples.Value, message, signature);
    }
}
