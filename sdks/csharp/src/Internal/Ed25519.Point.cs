using System.Linq;

namespace Keyward.Internal
{
    internal static partial class Ed25519
    {
        /// <summary>A point of the curve in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z.</summary>
        internal sealed class Point
        {
            public static readonly Point Zero = new Point(Field.From(0), Field.From(1), Field.From(1), Field.From(0));

            private readonly long[] _x;
            private readonly long[] _y;
            private readonly long[] _z;
            private readonly long[] _t;

            private Point(long[] x, long[] y, long[] z, long[] t)
            {
                _x = x;
                _y = y;
                _z = z;
                _t = t;
            }

            /// <summary>RFC 8032, section 5.1.3; null if the bytes are not the encoding of a point.</summary>
            public static Point Decode(byte[] bytes)
            {
                if (bytes.Length != 32) return null;
                byte[] withoutSign = (byte[])bytes.Clone();
                withoutSign[31] &= 127;
                if (FromBytes(withoutSign) >= Prime) return null;
                long[] one = Field.From(1);
                long[] y = Field.Decode(withoutSign);
                long[] yy = Field.Square(y);
                long[] u = Field.Subtract(yy, one);
                long[] v = Field.Add(Field.Multiply(yy, D), one);
                long[] v3 = Field.Multiply(Field.Square(v), v);
                long[] uv7 = Field.Multiply(Field.Multiply(Field.Square(v3), v), u);
                long[] x = Field.Multiply(Field.Multiply(u, v3), Field.PowerForRoot(uv7));
                long[] vxx = Field.Multiply(v, Field.Square(x));
                if (!Field.AreEqual(vxx, u))
                {
                    if (!Field.AreEqual(vxx, Field.Subtract(Field.From(0), u))) return null;
                    x = Field.Multiply(x, RootOfMinusOne);
                }
                byte[] encoded = Field.Encode(x);
                int sign = bytes[31] >> 7;
                if (sign == 1 && encoded.All(each => each == 0)) return null;
                if ((encoded[0] & 1) != sign) x = Field.Subtract(Field.From(0), x);
                return new Point(x, y, one, Field.Multiply(x, y));
            }

            public byte[] Encode()
            {
                long[] inverse = Field.Invert(_z);
                byte[] bytes = Field.Encode(Field.Multiply(_y, inverse));
                bytes[31] |= (byte)((Field.Encode(Field.Multiply(_x, inverse))[0] & 1) << 7);
                return bytes;
            }

            public Point Negated() => new Point(Field.Subtract(Field.From(0), _x), _y, _z, Field.Subtract(Field.From(0), _t));

            /// <summary>1, 3, 5 … 15 times this point.</summary>
            public Point[] OddMultiples()
            {
                var multiples = new Point[8];
                Point twice = Doubled();
                multiples[0] = this;
                for (int at = 1; at < multiples.Length; at++) multiples[at] = multiples[at - 1].Plus(twice);
                return multiples;
            }

            public Point Plus(int digit, Point[] multiples) =>
                digit == 0 ? this : digit > 0 ? Plus(multiples[digit / 2]) : Plus(multiples[-digit / 2].Negated());

            /// <summary>RFC 8032, section 5.1.4: holds for all points.</summary>
            private Point Plus(Point other)
            {
                long[] a = Field.Multiply(Field.Subtract(_y, _x), Field.Subtract(other._y, other._x));
                long[] b = Field.Multiply(Field.Add(_y, _x), Field.Add(other._y, other._x));
                long[] c = Field.Multiply(Field.Multiply(_t, TwoD), other._t);
                long[] zz = Field.Multiply(_z, other._z);
                return Of(Field.Subtract(b, a), Field.Subtract(Field.Add(zz, zz), c), Field.Add(Field.Add(zz, zz), c), Field.Add(b, a));
            }

            public Point Doubled()
            {
                long[] a = Field.Square(_x);
                long[] b = Field.Square(_y);
                long[] zz = Field.Square(_z);
                long[] h = Field.Add(a, b);
                long[] e = Field.Subtract(h, Field.Square(Field.Add(_x, _y)));
                long[] g = Field.Subtract(a, b);
                return Of(e, Field.Add(Field.Add(zz, zz), g), g, h);
            }

            private static Point Of(long[] e, long[] f, long[] g, long[] h) =>
                new Point(Field.Multiply(e, f), Field.Multiply(g, h), Field.Multiply(f, g), Field.Multiply(e, h));
        }
    }
}
