using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Keyward.Internal
{
    /// <summary>
    /// JSON as <c>JSON.parse</c> and <c>JSON.stringify</c> have it: texts, double, bool, null, <see cref="List{T}"/> and
    /// <see cref="Dictionary{TKey,TValue}"/>. Of a repeated key the last one counts.
    /// </summary>
    internal sealed partial class JsonText
    {
        /// <summary>An object of names and values; members that are null are left out.</summary>
        public static Dictionary<string, object> Object(params object[] members)
        {
            var json = new Dictionary<string, object>(StringComparer.Ordinal);
            for (int at = 0; at < members.Length; at += 2)
                if (members[at + 1] != null) json[(string)members[at]] = members[at + 1];
            return json;
        }

        public static string Text(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) ? value as string : null;

        public static bool Flag(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && true.Equals(value);

        public static int Integer(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is double number && Math.Abs(number) <= int.MaxValue ? (int)number : 0;

        /// <summary>An empty object if there is none.</summary>
        public static Dictionary<string, object> Child(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is Dictionary<string, object> child ? child : Object();

        public static IReadOnlyList<string> TextList(Dictionary<string, object> json, string name) =>
            json.TryGetValue(name, out object value) && value is List<object> list ? list.OfType<string>().ToList() : new List<string>();

        public static IReadOnlyDictionary<string, string> Texts(Dictionary<string, object> json, string name) =>
            Child(json, name).Where(each => each.Value is string).ToDictionary(each => each.Key, each => (string)each.Value, StringComparer.Ordinal);

        /// <summary>
        /// A time of the server; null if it has none. A text that is no time counts as long past, so that nothing broken looks like a
        /// license that never ends.
        /// </summary>
        public static DateTimeOffset? Time(Dictionary<string, object> json, string name)
        {
            if (!json.TryGetValue(name, out object value) || value == null) return null;
            return value is string text && TryTime(text, out DateTimeOffset time) ? time : DateTimeOffset.MinValue;
        }

        public static bool TryTime(string text, out DateTimeOffset time)
        {
            // JavaScript writes years after 9999 so.
            if (text.StartsWith("+", StringComparison.Ordinal))
            {
                time = DateTimeOffset.MaxValue;
                return true;
            }
            const DateTimeStyles styles = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
            return DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, styles, out time);
        }
    }
}
