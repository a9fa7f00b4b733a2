using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

namespace Keyward.Internal
{
    internal sealed partial class JsonText
    {
        /// <summary>Deeper texts are rejected, so that none of them ends the program with a stack overflow.</summary>
        private const int MaxDepth = 64;

        private readonly string _text;
        private int _at;

        private JsonText(string text) { _text = text; }

        public static bool TryParse(string text, out object value)
        {
            value = null;
            if (text == null) return false;
            try
            {
                var reader = new JsonText(text);
                value = reader.Value(0);
                reader.SkipSpace();
                if (reader._at == text.Length) return true;
            }
            catch (FormatException)
            {
            }
            value = null;
            return false;
        }

        private char Next => _at < _text.Length ? _text[_at] : '\0';

        private FormatException Fail() => new FormatException("Not JSON at " + Internal.Text.Of(_at));

        private void SkipSpace()
        {
            while (_at < _text.Length && (_text[_at] == ' ' || _text[_at] == '\n' || _text[_at] == '\r' || _text[_at] == '\t')) _at++;
        }

        private object Value(int depth)
        {
            SkipSpace();
            switch (Next)
            {
                case '{': return ObjectValue(depth + 1);
                case '[': return ListValue(depth + 1);
                case '"': return StringValue();
                case 't': return Word("true", true);
                case 'f': return Word("false", false);
                case 'n': return Word("null", null);
                default: return Number();
            }
        }

        private object Word(string word, object value)
        {
            if (string.CompareOrdinal(_text, _at, word, 0, word.Length) != 0) throw Fail();
            _at += word.Length;
            return value;
        }

        private Dictionary<string, object> ObjectValue(int depth)
        {
            if (depth > MaxDepth) throw Fail();
            var members = Object();
            _at++;
            SkipSpace();
            if (Next == '}')
            {
                _at++;
                return members;
            }
            for (;;)
            {
                SkipSpace();
                if (Next != '"') throw Fail();
                string name = StringValue();
                SkipSpace();
                if (Next != ':') throw Fail();
                _at++;
                members[name] = Value(depth);
                if (IsLast('}')) return members;
            }
        }

        private List<object> ListValue(int depth)
        {
            if (depth > MaxDepth) throw Fail();
            var items = new List<object>();
            _at++;
            SkipSpace();
            if (Next == ']')
            {
                _at++;
                return items;
            }
            for (;;)
            {
                items.Add(Value(depth));
                if (IsLast(']')) return items;
            }
        }

        private bool IsLast(char end)
        {
            SkipSpace();
            char found = Next;
            if (found != end && found != ',') throw Fail();
            _at++;
            return found == end;
        }

        private string StringValue()
        {
            var value = new StringBuilder();
            for (_at++; _at < _text.Length; _at++)
            {
                char each = _text[_at];
                if (each == '"')
                {
                    _at++;
                    return value.ToString();
                }
                if (each < ' ') break;
                if (each == '\\')
                {
                    _at++;
                    int at = "\"\\/bfnrtu".IndexOf(Next);
                    if (_at >= _text.Length || at < 0) break;
                    each = at == 8 ? Escaped() : "\"\\/\b\f\n\r\t"[at];
                }
                value.Append(each);
            }
            throw Fail();
        }

        /// <summary>The four digits after <c>\u</c>; half of a pair is a character like others.</summary>
        private char Escaped()
        {
            if (_at + 4 >= _text.Length) throw Fail();
            int code = 0;
            for (int i = 0; i < 4; i++)
            {
                int digit = "0123456789abcdef".IndexOf(char.ToLowerInvariant(_text[++_at]));
                if (digit < 0) throw Fail();
                code = code * 16 + digit;
            }
            return (char)code;
        }

        private object Number()
        {
            int start = _at;
            if (Next == '-') _at++;
            int digits = _at;
            SkipDigits();
            if (_text[digits] == '0' && _at - digits > 1) throw Fail();
            if (Next == '.')
            {
                _at++;
                SkipDigits();
            }
            if (Next == 'e' || Next == 'E')
            {
                _at++;
                if (Next == '+' || Next == '-') _at++;
                SkipDigits();
            }
            string number = _text.Substring(start, _at - start);
            try
            {
                return double.Parse(number, NumberStyles.Float, CultureInfo.InvariantCulture);
            }
            catch (OverflowException)
            {
                // Newer frameworks return infinity.
                return number[0] == '-' ? double.NegativeInfinity : double.PositiveInfinity;
            }
        }

        private void SkipDigits()
        {
            int start = _at;
            while (Next >= '0' && Next <= '9') _at++;
            if (_at == start) throw Fail();
        }
    }
}
