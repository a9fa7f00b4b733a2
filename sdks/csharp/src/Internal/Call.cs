using System.Collections.Generic;

namespace Keyward.Internal
{
    internal sealed class Call
    {
        public readonly string Method;
        /// <summary>Path below <c>/api/client/</c>.</summary>
        public readonly string Name;
        public readonly Dictionary<string, object> Body;
        /// <summary>Whether executing the call twice has the same effect as once.</summary>
        public readonly bool Repeatable;
        public string Session;

        public Call(string method, string name, Dictionary<string, object> body, bool repeatable)
        {
            Method = method;
            Name = name;
            Body = body;
            Repeatable = repeatable;
        }
    }

    /// <summary>A genuine answer: a success with its data, or a refusal.</summary>
    internal sealed class Outcome
    {
        public bool Ok;
        public int Status;
        public string Code;
        public string Message;
        /// <summary>After a success.</summary>
        public Dictionary<string, object> Data;
        private Dictionary<string, object> _answer;

        public static Outcome From(Answer answer)
        {
            Dictionary<string, object> answered = JsonText.TryParse(Text.FromUtf8(answer.Body), out object value) ? value as Dictionary<string, object> : null;
            if (answered != null && answered.TryGetValue("success", out object success))
            {
                string message = JsonText.Text(answered, "message");
                string code = JsonText.Text(answered, "code");
                if (answer.Status < 300 && true.Equals(success))
                    return new Outcome { Ok = true, Status = answer.Status, Message = message, Data = JsonText.Child(answered, "data") };
                if (answer.Status >= 400 && false.Equals(success) && code != null)
                    return new Outcome { Status = answer.Status, Code = code, Message = message ?? code, _answer = answered };
            }
            throw new KeywardNetworkException("unexpected_answer", "The answer with status " + Text.Of(answer.Status) + " is unknown", true, answer.Status);
        }

        public Dictionary<string, object> Refusal() =>
            ToRefusal(Code, Message, _answer.TryGetValue("errors", out object errors) ? errors as List<object> : null, _answer);

        public static Dictionary<string, object> ToRefusal(string code, string message, List<object> errors, Dictionary<string, object> facts)
        {
            facts.TryGetValue("details", out object details);
            return JsonText.Object("ok", false, "code", code, "message", message, "errors", errors,
                "reference", JsonText.Text(facts, "reference"), "details", details as Dictionary<string, object>);
        }

        /// <summary>The code and the reference of a refusal, which <c>validate</c> has in its data.</summary>
        public string LogCode => Ok ? JsonText.Text(Data, "code") : Code;
        public string LogReference => JsonText.Text(Ok ? Data : _answer, "reference");
    }
}
