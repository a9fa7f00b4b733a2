using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

namespace Keyward.Internal
{
    /// <summary>
    /// Parses a dictionary of RFC 9651 (<c>Signature</c>, <c>Signature-Input</c>, <c>Content-Digest</c>) more strictly than the RFC:
    /// repeated keys are errors, and byte sequences must be canonical base64, so that each value has one spelling.
    /// </summary>
    internal sealed class StructuredFields
    {
        /// <summary>A bare item with its parameters in their original order. Values are text, long, byte[], bool, or <see cref="Other"/>.</summary>
        internal class Item
        {
            public object Value;
            public List<KeyValuePair<string, object>> Params;
        }

        /// <summary>A member of the dictionary: an item or an inner list.</summary>
        internal sealed class Member
        {
            public Item Item;
            public List<Item> Items;
            public List<KeyValuePair<string, object>> Params;
        }

        /// <summary>A token, a decimal or a date: never mistaken for a string or an integer.</summary>
        private sealed class Other
        {
        }

        private const int MaxLength = 16384;
        private const string Lower = "abcdefghijklmnopqrstuvwxyz";
        private const string Digits = "0123456789";
        private const string Letters = Lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        private readonly string _text;
        private int _at;

        private StructuredFields(string text) { _text = text; }

        /// <summary>Throws <see cref="FormatException"/>.</summary>
        public static Dictionary<string, Member> ParseDictionary(string text)
        {
            if (text.Length > MaxLength) throw new FormatException("The field is too long");
            return new StructuredFields(text).Dictionary();
        }

        /// <summary>Serializes a string item; the text must be printable ASCII, as every parsed string is.</summary>
        public static string Quote(string text) => "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

        private char Next => _at < _text.Length ? _text[_at] : '\0';

        private FormatException Fail(string what) => new FormatException(what + " at " + Text.Of(_at));

        private void Skip(string characters)
        {
            while (_at < _text.Length && characters.IndexOf(Next) >= 0) _at++;
        }

        private Dictionary<string, Member> Dictionary()
        {
            var members = new Dictionary<string, Member>(StringComparer.Ordinal);
            Skip(" ");
            while (_at < _text.Length)
            {
                string key = Key();
                if (members.ContainsKey(key)) throw Fail("Key " + key + " is repeated");
                members.Add(key, ReadMember());
                Skip(" \t");
                if (_at == _text.Length) break;
                if (Next != ',') throw Fail("Expected a comma");
                _at++;
                Skip(" \t");
                if (_at == _text.Length) throw Fail("Unexpected end after a comma");
            }
            return members;
        }

        private string Key()
        {
            int start = _at;
            if (_at < _text.Length && (Lower + "*").IndexOf(Next) >= 0) Skip(Lower + Digits + "_.*-");
            if (_at == start) throw Fail("Expected a key");
            return _text.Substring(start, _at - start);
        }

        private Member ReadMember()
        {
            if (Next != '=')
            {
                var flag = new Item { Value = true, Params = Parameters() };
                return new Member { Item = flag, Params = flag.Params };
            }
            _at++;
            if (Next == '(') return InnerList();
            Item item = ReadItem();
            return new Member { Item = item, Params = item.Params };
        }

        private Member InnerList()
        {
            _at++;
            var items = new List<Item>();
            for (;;)
            {
                Skip(" ");
                if (Next == ')') break;
                items.Add(ReadItem());
                if (Next != ' ' && Next != ')') throw Fail("Expected a space or the end of the list");
            }
            _at++;
            return new Member { Items = items, Params = Parameters() };
        }

        private Item ReadItem() => new Item { Value = BareItem(), Params = Parameters() };

        private List<KeyValuePair<string, object>> Parameters()
        {
            var parameters = new List<KeyValuePair<string, object>>();
            while (Next == ';')
            {
                _at++;
                Skip(" ");
                string key = Key();
                if (parameters.Any(each => each.Key == key)) throw Fail("Parameter " + key + " is repeated");
                object value = true;
                if (Next == '=')
                {
                    _at++;
                    value = BareItem();
                }
                parameters.Add(new KeyValuePair<string, object>(key, value));
            }
            return parameters;
        }

        private object BareItem()
        {
            char first = Next;
            if (first == '"') return QuotedString();
            if (first == ':') return ByteSequence();
            if (first == '?')
            {
                char flag = _at + 1 < _text.Length ? _text[_at + 1] : '\0';
                if (flag != '0' && flag != '1') throw Fail("Expected a boolean");
                _at += 2;
                return flag == '1';
            }
            if (first == '@')
            {
                _at++;
                if (!(Number() is long)) throw Fail("Expected a date");
                return new Other();
            }
            if (first == '-' || (first >= '0' && first <= '9')) return Number();
            if (_at >= _text.Length || (Letters + "*").IndexOf(first) < 0) throw Fail("Expected an item");
            Skip(Letters + Digits + "!#$%&'*+.^_`|~:/-");
            return new Other();
        }

        private string QuotedString()
        {
            var value = new StringBuilder();
            for (int at = _at + 1; at < _text.Length; at++)
            {
                char each = _text[at];
                if (each == '"')
                {
                    _at = at + 1;
                    return value.ToString();
                }
                if (each == '\\')
                {
                    at++;
                    if (at >= _text.Length || (_text[at] != '"' && _text[at] != '\\')) break;
                    each = _text[at];
                }
                if (each < ' ' || each > '~') break;
                value.Append(each);
            }
            throw Fail("Expected a string");
        }

        private byte[] ByteSequence()
        {
            int end = _text.IndexOf(':', _at + 1);
            byte[] bytes = end < 0 ? null : Bytes.FromBase64(_text.Substring(_at + 1, end - _at - 1));
            if (bytes == null) throw Fail("Expected a byte sequence in canonical base64");
            _at = end + 1;
            return bytes;
        }

        /// <summary>An integer of up to 15 digits, or a decimal.</summary>
        private object Number()
        {
            int start = _at;
            if (Next == '-') _at++;
            int digits = _at;
            Skip(Digits);
            int integers = _at - digits;
            if (Next == '.')
            {
                _at++;
                int point = _at;
                Skip(Digits);
                int decimals = _at - point;
                if (integers < 1 || integers > 12 || decimals < 1 || decimals > 3 || Next == '.') throw Fail("Expected a number");
                return new Other();
            }
            if (integers < 1 || integers > 15) throw Fail("Expected a number");
            return long.Parse(_text.Substring(start, _at - start), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
        }
    }
}
