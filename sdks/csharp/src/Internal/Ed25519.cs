using System;
using System.Globalization;
using System.Linq;
using System.Numerics;
using System.Security.Cryptography;

namespace Keyward.Internal
{
    /// <summary>
    /// Verifies only, so that nothing here handles a secret and no time needs to be constant. Strict: S below the order of the group,
    /// points in their one encoding, and R compared as bytes.
    /// </summary>
    internal static partial class Ed25519
    {
        /// <summary>The order of the base point.</summary>
        private static readonly BigInteger Order = BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493", CultureInfo.InvariantCulture);
        private static readonly BigInteger Prime = BigInteger.Pow(2, 255) - 19;
        private static readonly long[] D = Field.From(Mod(-121665 * BigInteger.ModPow(121666, Prime - 2, Prime)));
        private static readonly long[] TwoD = Field.Add(D, D);
        private static readonly long[] RootOfMinusOne = Field.From(BigInteger.ModPow(2, (Prime - 1) / 4, Prime));
        private static readonly Point[] BaseMultiples = Point.Decode(ToBytes(Mod(4 * BigInteger.ModPow(5, Prime - 2, Prime)))).OddMultiples();

        public static bool Verify(byte[] publicKey, Point[] negatedKey, byte[] message, byte[] signature)
        {
            if (negatedKey == null || signature.Length != 64) return false;
            byte[] s = signature.Skip(32).ToArray();
            if (FromBytes(s) >= Order) return false;
            byte[] hash;
            using (SHA512 sha = SHA512.Create()) hash = sha.ComputeHash(signature.Take(32).Concat(publicKey).Concat(message).ToArray());
            byte[] k = ToBytes(FromBytes(hash) % Order);
            byte[] r = Sum(s, BaseMultiples, k, negatedKey).Encode();
            return r.SequenceEqual(signature.Take(32));
        }

        /// <summary>a A + b B, by signed windows of five bits.</summary>
        private static Point Sum(byte[] a, Point[] multiplesOfA, byte[] b, Point[] multiplesOfB)
        {
            int[] digitsOfA = Windows(a);
            int[] digitsOfB = Windows(b);
            Point sum = Point.Zero;
            for (int at = digitsOfA.Length - 1; at >= 0; at--)
            {
                sum = sum.Doubled();
                sum = sum.Plus(digitsOfA[at], multiplesOfA).Plus(digitsOfB[at], multiplesOfB);
            }
            return sum;
        }

        /// <summary>Digits of a scalar below 2^253, each zero or odd from -15 to 15, whose sum with weights 2^i is the scalar.</summary>
        private static int[] Windows(byte[] scalar)
        {
            var bits = new int[262];
            for (int at = 0; at < 256; at++) bits[at] = (scalar[at >> 3] >> (at & 7)) & 1;
            var digits = new int[257];
            for (int at = 0; at < digits.Length; at++)
            {
                if (bits[at] == 0) continue;
                int digit = 0;
                for (int bit = 4; bit >= 0; bit--)
                {
                    digit = 2 * digit + bits[at + bit];
                    bits[at + bit] = 0;
                }
                if (digit > 15)
                {
                    digit -= 32;
                    int carry = at + 5;
                    while (bits[carry] == 1) bits[carry++] = 0;
                    bits[carry] = 1;
                }
                digits[at] = digit;
            }
            return digits;
        }

        private static BigInteger Mod(BigInteger value) => ((value % Prime) + Prime) % Prime;

        /// <summary>Little-endian, without a sign.</summary>
        private static BigInteger FromBytes(byte[] bytes) => new BigInteger(bytes.Concat(new byte[] { 0 }).ToArray());

        private static byte[] ToBytes(BigInteger value)
        {
            byte[] bytes = value.ToByteArray();
            Array.Resize(ref bytes, 32);
            return bytes;
        }
    }
}
