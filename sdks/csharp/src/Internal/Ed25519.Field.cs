using System.Linq;
using System.Numerics;

namespace Keyward.Internal
{
    internal static partial class Ed25519
    {
        /// <summary>
        /// Numbers modulo 2^255 - 19 as ten limbs of 26 and 25 bits in turn, which may be negative. Products have limbs of at most 2^25
        /// (2^24) and a bit; sums of up to four of them may be multiplied without an overflow.
        /// </summary>
        private static class Field
        {
            private static int BitsOf(int limb) => 26 - (limb & 1);

            public static long[] From(BigInteger value) => Decode(ToBytes(value));

            public static long[] Decode(byte[] bytes)
            {
                var limbs = new long[10];
                int at = 0;
                for (int limb = 0; limb < 10; limb++)
                    for (int bit = 0; bit < BitsOf(limb); bit++, at++) limbs[limb] |= (long)((bytes[at >> 3] >> (at & 7)) & 1) << bit;
                return Carried(limbs);
            }

            /// <summary>The one encoding below the prime.</summary>
            public static byte[] Encode(long[] number)
            {
                long[] limbs = Carried((long[])number.Clone());
                long quotient = (19 * limbs[9] + (1L << 24)) >> 25;
                for (int limb = 0; limb < 10; limb++) quotient = (limbs[limb] + quotient) >> BitsOf(limb);
                limbs[0] += 19 * quotient;
                var bytes = new byte[32];
                int at = 0;
                for (int limb = 0; limb < 10; limb++)
                {
                    long carry = limbs[limb] >> BitsOf(limb);
                    if (limb < 9) limbs[limb + 1] += carry;
                    for (int bit = 0; bit < BitsOf(limb); bit++, at++) bytes[at >> 3] |= (byte)(((limbs[limb] >> bit) & 1) << (at & 7));
                }
                return bytes;
            }

            public static bool AreEqual(long[] a, long[] b) => Encode(a).SequenceEqual(Encode(b));

            public static long[] Add(long[] a, long[] b)
            {
                var sum = new long[10];
                for (int limb = 0; limb < 10; limb++) sum[limb] = a[limb] + b[limb];
                return sum;
            }

            public static long[] Subtract(long[] a, long[] b)
            {
                var difference = new long[10];
                for (int limb = 0; limb < 10; limb++) difference[limb] = a[limb] - b[limb];
                return difference;
            }

            public static long[] Square(long[] a) => Multiply(a, a);

            public static long[] Multiply(long[] a, long[] b)
            {
                var product = new long[10];
                for (int i = 0; i < 10; i++)
                {
                    long factor = a[i];
                    long twice = (i & 1) == 1 ? 2 * factor : factor;
                    for (int j = 0; j < 10; j++)
                    {
                        long term = ((j & 1) == 1 ? twice : factor) * b[j];
                        int limb = i + j;
                        if (limb < 10) product[limb] += term;
                        else product[limb - 10] += 19 * term;
                    }
                }
                return Carried(product);
            }

            private static long[] Carried(long[] limbs)
            {
                for (int limb = 0; limb < 10; limb++)
                {
                    int bits = BitsOf(limb);
                    long carry = (limbs[limb] + (1L << (bits - 1))) >> bits;
                    limbs[limb] -= carry << bits;
                    if (limb < 9) limbs[limb + 1] += carry;
                    else limbs[0] += 19 * carry;
                }
                long last = (limbs[0] + (1L << 25)) >> 26;
                limbs[0] -= last << 26;
                limbs[1] += last;
                return limbs;
            }

            private static long[] Squared(long[] a, int times)
            {
                for (; times > 0; times--) a = Square(a);
                return a;
            }

            /// <summary>a^(2^250 - 1), and a^11.</summary>
            private static long[] Power250(long[] a, out long[] power11)
            {
                long[] power9 = Multiply(Squared(a, 3), a);
                power11 = Multiply(power9, Square(a));
                long[] power5 = Multiply(Square(power11), power9);
                long[] power10 = Multiply(Squared(power5, 5), power5);
                long[] power20 = Multiply(Squared(power10, 10), power10);
                long[] power40 = Multiply(Squared(power20, 20), power20);
                long[] power50 = Multiply(Squared(power40, 10), power10);
                long[] power100 = Multiply(Squared(power50, 50), power50);
                long[] power200 = Multiply(Squared(power100, 100), power100);
                return Multiply(Squared(power200, 50), power50);
            }

            /// <summary>a^(p - 2).</summary>
            public static long[] Invert(long[] a)
            {
                long[] power250 = Power250(a, out long[] power11);
                return Multiply(Squared(power250, 5), power11);
            }

            /// <summary>a^((p - 5) / 8).</summary>
            public static long[] PowerForRoot(long[] a) => Multiply(Squared(Power250(a, out _), 2), a);
        }
    }
}
