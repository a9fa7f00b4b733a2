using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>Texts as JavaScript has them, whatever the culture.</summary>
    internal static class Text
    {
        private static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, false);

        public static byte[] ToUtf8(string text) => Utf8.GetBytes(text);

        /// <summary>Without a byte order mark; what is not UTF-8 is replaced.</summary>
        public static string FromUtf8(byte[] bytes)
        {
            int start = bytes.Length >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0;
            return Utf8.GetString(bytes, start, bytes.Length - start);
        }

        public static string Of(long number) => number.ToString(CultureInfo.InvariantCulture);

        public static string Head(string text, int length) => text.Length <= length ? text : text.Substring(0, length);

        public static bool IsWord(char each) =>
            (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') || each == '_';

        private static bool IsSpace(char each) =>
            (each >= '\t' && each <= '\r') || each == '\u2028' || each == '\u2029' || each == '\ufeff' ||
            (each != '\u180e' && char.GetUnicodeCategory(each) == UnicodeCategory.SpaceSeparator);

        public static string Trim(string text)
        {
            int start = 0;
            int end = text.Length;
            while (start < end && IsSpace(text[start])) start++;
            while (end > start && IsSpace(text[end - 1])) end--;
            return text.Substring(start, end - start);
        }

        /// <summary>What stands between white space.</summary>
        public static IEnumerable<string> Words(string text)
        {
            int start = -1;
            for (int at = 0; at <= text.Length; at++)
            {
                bool isWord = at < text.Length && !IsSpace(text[at]);
                if (isWord && start < 0) start = at;
                if (isWord || start < 0) continue;
                yield return text.Substring(start, at - start);
                start = -1;
            }
        }

        public static string Lower(string text) => text.Replace("\u0130", "i\u0307").ToLowerInvariant();
    }
}
