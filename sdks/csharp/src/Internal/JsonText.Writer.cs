using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

namespace Keyward.Internal
{
    internal sealed partial class JsonText
    {
        public static string Write(object value)
        {
            var text = new StringBuilder();
            Write(text, value, 0);
            return text.ToString();
        }

        private static void Write(StringBuilder text, object value, int depth)
        {
            // Everything that is written was read, or has a fixed form.
            if (depth > 2 * MaxDepth) throw new InvalidOperationException("The object is too deep");
            if (value == null) text.Append("null");
            else if (value is bool flag) text.Append(flag ? "true" : "false");
            else if (value is double number) text.Append(Write(number));
            else if (value is string content) Quote(text, content);
            else if (value is Dictionary<string, object> members)
            {
                string separator = "{";
                foreach (KeyValuePair<string, object> each in members)
                {
                    text.Append(separator);
                    Quote(text, each.Key);
                    text.Append(':');
                    Write(text, each.Value, depth + 1);
                    separator = ",";
                }
                text.Append(members.Count == 0 ? "{}" : "}");
            }
            else if (value is List<object> items)
            {
                string separator = "[";
                foreach (object each in items)
                {
                    text.Append(separator);
                    Write(text, each, depth + 1);
                    separator = ",";
                }
                text.Append(items.Count == 0 ? "[]" : "]");
            }
            else throw new InvalidOperationException("Not JSON: " + value.GetType());
        }

        private static string Write(double number)
        {
            if (double.IsNaN(number) || double.IsInfinity(number)) return "null";
            if (Math.Floor(number) == number && Math.Abs(number) <= 9007199254740991) return ((long)number).ToString(CultureInfo.InvariantCulture);
            return number.ToString("R", CultureInfo.InvariantCulture);
        }

        private static void Quote(StringBuilder text, string content)
        {
            text.Append('"');
            for (int at = 0; at < content.Length; at++)
            {
                char each = content[at];
                int escape = "\"\\\b\f\n\r\t".IndexOf(each);
                bool isPair = char.IsHighSurrogate(each) && at + 1 < content.Length && char.IsLowSurrogate(content[at + 1]);
                if (escape >= 0) text.Append('\\').Append("\"\\bfnrt"[escape]);
                else if (isPair) text.Append(each).Append(content[++at]);
                else if (each < ' ' || char.IsSurrogate(each)) text.Append("\\u").Append(((int)each).ToString("x4", CultureInfo.InvariantCulture));
                else text.Append(each);
            }
            text.Append('"');
        }
    }
}
