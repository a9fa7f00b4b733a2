using System;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;

namespace Keyward.Internal
{
    internal static class Bytes
    {
        public static string ToHex(byte[] bytes)
        {
            var text = new StringBuilder(bytes.Length * 2);
            foreach (byte each in bytes) text.Append("0123456789abcdef"[each >> 4]).Append("0123456789abcdef"[each & 15]);
            return text.ToString();
        }

        /// <summary>Decodes hex digits that are known to be some.</summary>
        public static byte[] FromHex(string hex)
        {
            var bytes = new byte[hex.Length / 2];
            for (int at = 0; at < bytes.Length; at++) bytes[at] = byte.Parse(hex.Substring(at * 2, 2), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            return bytes;
        }

        public static string ToBase64Url(byte[] bytes) => Convert.ToBase64String(bytes).Replace('+', '-').Replace('/', '_').TrimEnd('=');

        /// <summary>Decodes canonical base64 only, so that each value has one spelling; otherwise null.</summary>
        public static byte[] FromBase64(string text)
        {
            if (text.Length % 4 != 0) return null;
            string symbols = text.TrimEnd('=');
            if (text.Length - symbols.Length > 2) return null;
            if (!symbols.All(each => (Text.IsWord(each) && each != '_') || each == '+' || each == '/')) return null;
            try
            {
                byte[] bytes = Convert.FromBase64String(text);
                return Convert.ToBase64String(bytes) == text ? bytes : null;
            }
            catch (FormatException)
            {
                return null;
            }
        }

        /// <summary>Decodes canonical base64url without padding; otherwise null.</summary>
        public static byte[] FromBase64Url(string text)
        {
            if (text == null || text.IndexOfAny(new[] { '+', '/', '=' }) >= 0) return null;
            return FromBase64(text.Replace('-', '+').Replace('_', '/') + new string('=', (4 - text.Length % 4) % 4));
        }
    }

    internal static class Secure
    {
        public static byte[] Sha256(byte[] bytes)
        {
            using (SHA256 hash = SHA256.Create()) return hash.ComputeHash(bytes);
        }

        public static string Sha256Hex(string text) => Bytes.ToHex(Sha256(Text.ToUtf8(text)));

        public static string HmacHex(string key, string text)
        {
            using (var hmac = new HMACSHA256(Text.ToUtf8(key))) return Bytes.ToHex(hmac.ComputeHash(Text.ToUtf8(text)));
        }

        public static byte[] Random(int length)
        {
            var bytes = new byte[length];
            using (RandomNumberGenerator source = RandomNumberGenerator.Create()) source.GetBytes(bytes);
            return bytes;
        }

        /// <summary>A random number from 0 to 1.</summary>
        public static double Fraction() => BitConverter.ToUInt32(Random(4), 0) / (double)uint.MaxValue;
    }
}
