// The conformance adapter of the C# SDK; see sdks/conformance/README.md for its protocol.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    using Json = Dictionary<string, object>;

    internal static class Conformance
    {
        private sealed class Client
        {
            public KeywardClient Keyward;
            public readonly ConcurrentQueue<LogEvent> Events = new ConcurrentQueue<LogEvent>();
            /// <summary>Seconds since 1970; null for the real time.</summary>
            public double? Now;
            /// <summary>How far its monotonic clock is ahead, in seconds.</summary>
            public double Elapsed;
        }

        private static readonly Dictionary<string, Client> Clients = new Dictionary<string, Client>();

        private static int Main()
        {
            var utf8 = new UTF8Encoding(false);
            var input = new StreamReader(Console.OpenStandardInput(), utf8);
            var output = new StreamWriter(Console.OpenStandardOutput(), utf8) { AutoFlush = true, NewLine = "\n" };
            for (string line = input.ReadLine(); line != null; line = input.ReadLine())
            {
                JsonText.TryParse(line, out object request);
                output.WriteLine(JsonText.Write(AnswerAsync((Json)request).GetAwaiter().GetResult()));
            }
            return 0;
        }

        private static async Task<Json> AnswerAsync(Json request)
        {
            try
            {
                return await OperateAsync(request);
            }
            catch (Exception error)
            {
                return ToError(error);
            }
        }

        private static async Task<Json> OperateAsync(Json request)
        {
            string id = JsonText.Text(request, "id");
            switch (JsonText.Text(request, "op"))
            {
                case "new":
                    Clients[id] = Open(request);
                    return JsonText.Object("ok", true);
                case "elapse":
                    Clients[id].Elapsed += (double)request["seconds"];
                    return JsonText.Object("ok", true);
                case "now":
                    Clients[id].Now = (double)request["now"];
                    return JsonText.Object("ok", true);
                case "call":
                    return await CallAsync(request);
                case "together":
                    Task<Json>[] calls = ((List<object>)request["calls"]).Select(call => CaughtAsync((Json)call)).ToArray();
                    return JsonText.Object("results", (await Task.WhenAll(calls)).ToList<object>());
                case "events":
                    var events = new List<object>();
                    while (Clients[id].Events.TryDequeue(out LogEvent each)) events.Add(ToJson(each));
                    return JsonText.Object("result", events);
                case "judge":
                    return await JudgeAsync(request);
                case "lease":
                    return await CheckLeaseAsync(request);
                case "hwid":
                    return JsonText.Object("hwid", await DefaultHwid.FindAsync(JsonText.Text(request, "appId"), MachineOf(JsonText.Text(request, "machine"))));
                case "hwidSources":
                    return JsonText.Object("hwid", await DefaultHwid.FindAsync(JsonText.Text(request, "appId"), MachineWith(request)));
                case "part":
                    return DescribePart(request);
                case "encodeRequest":
                    return JsonText.Object("request", Activation.EncodeRequest(JsonText.Text(request, "appId"), JsonText.Text(request, "hwid"),
                        JsonText.Text(request, "licenseKey"), Bytes.FromHex(JsonText.Text(request, "nonce"))));
                case "ed25519":
                    byte[] key = Bytes.FromHex(JsonText.Text(request, "publicKey"));
                    return JsonText.Object("valid", new VerifyKey(key).Verify(Bytes.FromHex(JsonText.Text(request, "message")), Bytes.FromHex(JsonText.Text(request, "signature"))));
                default:
                    throw new InvalidOperationException("Unknown op");
            }
        }

        private static async Task<Json> CaughtAsync(Json request)
        {
            try
            {
                string after = JsonText.Text(request, "after");
                while (after != null && !File.Exists(after)) await Task.Delay(5);
                return await CallAsync(request);
            }
            catch (Exception error)
            {
                return ToError(error);
            }
        }

        private static Client Open(Json request)
        {
            var client = new Client();
            if (request.TryGetValue("now", out object now) && now != null) client.Now = (double)now;
            client.Keyward = new KeywardClient(ToOptions((Json)request["options"], client)) 
            {
                Now = () => client.Now ?? Clock.UnixSeconds,
                Elapsed = () => Clock.NowMs / 1000.0 + client.Elapsed,
            };
            return client;
        }

        private static KeywardOptions ToOptions(Json json, Client client)
        {
            var options = new KeywardOptions
            {
                BaseUrl = Option(json, "baseUrl"),
                AppId = Option(json, "appId"),
                Secret = Option(json, "secret"),
                Version = Option(json, "version"),
                Hash = Option(json, "hash"),
                Locale = Option(json, "locale"),
                Proxy = Option(json, "proxy"),
            };
            if (json.TryGetValue("publicKeys", out object keys)) options.PublicKeys = JsonText.Write(keys);
            if (json.TryGetValue("hwid", out object hwid)) options.Hwid = hwid == null ? HardwareId.None : hwid is string id ? ToHwid(id) : (HardwareId)"";
            if (json.TryGetValue("device", out object device)) options.Device = (bool)device;
            if (json.TryGetValue("timeoutMs", out object timeoutMs)) options.TimeoutMs = timeoutMs is double ms ? (int)ms : 0;
            if (json.TryGetValue("storage", out object storage))
                options.Storage = storage is Json place ? new PlainFile { Path = JsonText.Text(place, "file") } : KeywardStorage.UserData;
            if (json.TryGetValue("log", out object log))
            {
                if (true.Equals(log)) options.Log = client.Events.Enqueue;
                else options.Log = each => { throw new InvalidOperationException("It fails on purpose"); };
            }
            return options;
        }

        /// <summary>A value of another type is no valid option.</summary>
        private static string Option(Json json, string name) =>
            json.TryGetValue(name, out object value) ? value as string ?? "" : null;

        private static HardwareId ToHwid(string id)
        {
            if (id != "!throw") return id;
            return HardwareId.From(() => { if (id != "") throw new InvalidOperationException("It fails on purpose"); return id; });
        }

        /// <summary>A storage of the program's own.</summary>
        private sealed class PlainFile : IKeywardStorage
        {
            public string Path;

            public Task<string> ReadAsync() => Task.FromResult(File.Exists(Path) ? File.ReadAllText(Path) : null);

            public Task WriteAsync(string text)
            {
                File.WriteAllText(Path, text, new UTF8Encoding(false));
                return Task.FromResult(true);
            }
        }

        private static async Task<Json> CallAsync(Json request)
        {
            KeywardClient keyward = Clients[JsonText.Text(request, "id")].Keyward;
            List<object> args = request.TryGetValue("args", out object listed) ? (List<object>)listed : new List<object>();
            object result = await CallAsync(keyward, JsonText.Text(request, "method"), args);
            return new Json { ["result"] = result is KeywardResult answer ? answer.Json : result };
        }

        private static async Task<object> CallAsync(KeywardClient keyward, string method, List<object> args)
        {
            string first = args.Count > 0 ? args[0] as string : null;
            Json named = args.Count > 0 && args[0] is Json json ? json : new Json();
            Func<string, string> text = name => JsonText.Text(named, name);
            switch (method)
            {
                case "init": return await keyward.InitAsync();
                case "register": return await keyward.RegisterAsync(text("username"), text("password"), text("licenseKey"), text("email"));
                case "login": return await keyward.LoginAsync(text("username"), text("password"));
                case "license": return await keyward.LicenseAsync(first);
                case "upgrade": return await keyward.UpgradeAsync(text("username"), text("licenseKey"));
                case "session": return await keyward.SessionAsync();
                case "logout": return await keyward.LogoutAsync();
                case "trial": return await keyward.TrialAsync(text("type"), text("email"));
                case "devices": return await keyward.DevicesAsync();
                case "freeDevice": return await keyward.FreeDeviceAsync(first);
                case "validate": return await keyward.ValidateAsync(first, args.Count > 1 && JsonText.Flag((Json)args[1], "activate"));
                case "checkForUpdate": return await keyward.CheckForUpdateAsync(text("channel"), text("platform"), text("architecture"), text("licenseKey"));
                case "downloadUpdate": return await keyward.DownloadUpdateAsync(new Update(named), (string)args[1]);
                case "has": return keyward.Has(first);
                case "variable": return keyward.Variable(first);
                case "offlineRequest": return await keyward.OfflineRequestAsync(first);
                case "activateOffline": return await keyward.ActivateOfflineAsync(first);
                case "deactivateOffline": return await keyward.DeactivateOfflineAsync();
                default: throw new InvalidOperationException("Unknown method");
            }
        }

        private static Json ToJson(LogEvent each)
        {
            Json json = JsonText.Object("event", each.Event, "call", each.Call, "code", each.Code, "reference", each.Reference);
            if (each.Attempt != null) json["attempt"] = (double)each.Attempt;
            if (each.Status != null) json["status"] = (double)each.Status;
            if (each.DurationMs != null) json["durationMs"] = (double)each.DurationMs;
            if (each.DelayMs != null) json["delayMs"] = (double)each.DelayMs;
            return json;
        }

        private static async Task<Json> JudgeAsync(Json request)
        {
            KeyRing keys = KeyRing.From(JsonText.Write(request["keys"]));
            Json asked = JsonText.Child(request, "request");
            Json headers = JsonText.Child(asked, "headers");
            var sent = new SentRequest
            {
                Method = JsonText.Text(asked, "method"),
                Path = JsonText.Text(asked, "path"),
                Nonce = JsonText.Text(headers, "keyward-nonce"),
                Authorization = JsonText.Text(headers, "authorization"),
                ContentDigest = JsonText.Text(headers, "content-digest"),
            };
            try
            {
                Answer answer = await ReadAsync(JsonText.Child(request, "response"));
                Json judged = JsonText.Object("outcome", Verification.IsUnavailable(sent, answer, keys, out long _) ? "unavailable" : "verdict");
                if (!Verification.IsSigned(answer)) return judged;
                StructuredFields.Member input = StructuredFields.ParseDictionary(answer.Header("signature-input"))["keyward"];
                Verification.TryReadParameters(input, out long created, out string keyId);
                judged["signatureBase"] = Verification.SignatureBase(sent, answer, created, keyId);
                return judged;
            }
            catch (KeywardSignatureException error)
            {
                return JsonText.Object("outcome", "refused", "reason", error.Code);
            }
            catch (KeywardNetworkException error)
            {
                return JsonText.Object("outcome", "unavailable", "reason", error.Code);
            }
        }

        private static async Task<Answer> ReadAsync(Json response)
        {
            string base64 = JsonText.Text(response, "bodyBase64");
            byte[] once = base64 == null ? Text.ToUtf8(JsonText.Text(response, "body") ?? "") : Convert.FromBase64String(base64);
            int repeat = response.ContainsKey("bodyRepeat") ? JsonText.Integer(response, "bodyRepeat") : 1;
            var headers = new Dictionary<string, string>();
            foreach (List<object> pair in ((List<object>)response["headers"]).Cast<List<object>>())
            {
                string name = ((string)pair[0]).ToLowerInvariant();
                headers[name] = headers.TryGetValue(name, out string before) ? before + ", " + pair[1] : (string)pair[1];
            }
            int status = JsonText.Integer(response, "status");
            byte[] body = await Http.ReadAsync(new Repeated(once, repeat), CancellationToken.None);
            return new Answer { Status = status, Headers = headers, Body = body };
        }

        /// <summary>Some bytes, repeated without keeping them all.</summary>
        private sealed class Repeated : Stream
        {
            private readonly byte[] _once;
            private long _left;
            private int _at;

            public Repeated(byte[] once, int times)
            {
                _once = once;
                _left = (long)once.Length * times;
            }

            public override int Read(byte[] buffer, int offset, int count)
            {
                int read = 0;
                for (; read < count && _left > 0; read++, _left--)
                {
                    buffer[offset + read] = _once[_at];
                    _at = (_at + 1) % _once.Length;
                }
                return read;
            }

            public override bool CanRead => true;
            public override bool CanSeek => false;
            public override bool CanWrite => false;
            public override long Length => throw new NotSupportedException();
            public override long Position { get => throw new NotSupportedException(); set => throw new NotSupportedException(); }
            public override void Flush() { }
            public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
            public override void SetLength(long value) => throw new NotSupportedException();
            public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
        }

        private sealed class Memory : IKeywardStorage
        {
            public string Content;

            public Task<string> ReadAsync() => Task.FromResult(Content);

            public Task WriteAsync(string text)
            {
                Content = text;
                return Task.FromResult(true);
            }
        }

        private static async Task<Json> CheckLeaseAsync(Json request)
        {
            string appId = JsonText.Text(request, "appId");
            string hwid = JsonText.Text(request, "hwid");
            string lease = JsonText.Text(request, "lease");
            bool isLease = JsonText.Text(request, "type") == "lease";
            Json kept = JsonText.Object("latest", request["latest"]);
            if (isLease)
            {
                kept["lease"] = lease;
                kept["user"] = new Json();
            }
            else
            {
                kept["activation"] = JsonText.Object("pending", JsonText.Object("nonce", request["nonce"], "licenseKey", ""));
            }
            double now = (double)request["now"];
            var offline = new Offline(new Memory { Content = JsonText.Write(kept) }, appId, KeyRing.From(JsonText.Write(request["keys"]))) { Time = { Now = () => now } };
            if (isLease)
            {
                OfflineAnswer answer = await offline.AnswerAsync(hwid, null);
                return JsonText.Object("accepted", answer.Problem == null, "problem", answer.Problem);
            }
            try
            {
                await offline.ActivateAsync(lease, hwid);
                return JsonText.Object("accepted", true);
            }
            catch (KeywardUsageException error) when (error.Code == "activation_rejected")
            {
                return JsonText.Object("accepted", false);
            }
        }

        private static readonly string[] AbsentCodes = { "ENOENT", "ENOTDIR", "EACCES", "EPERM" };

        private static Machine MachineWith(Json facts)
        {
            string platform = JsonText.Text(facts, "platform");
            Json files = JsonText.Child(facts, "files");
            var failures = new Dictionary<string, int>();
            Func<string, string> read = path =>
            {
                if (!files.TryGetValue(path, out object found)) throw new Machine.AbsentException();
                if (found is string text) return text;
                var failure = (Json)found;
                failures.TryGetValue(path, out int failed);
                failures[path] = ++failed;
                if (failure.ContainsKey("times") && failed > JsonText.Integer(failure, "times")) return JsonText.Text(failure, "text");
                string code = JsonText.Text(failure, "error");
                if (AbsentCodes.Contains(code)) throw new Machine.AbsentException();
                throw new IOException(code);
            };
            return new Machine
            {
                Platform = platform,
                Hostname = JsonText.Text(facts, "hostname") ?? "",
                Macs = JsonText.TextList(facts, "macs"),
                Read = read,
                Property = _ => read(platform == Machine.Mac ? "ioplatform" : "machine-guid"),
            };
        }

        /// <summary>A machine with exactly one identity, <c>source:id</c>.</summary>
        private static Machine MachineOf(string identity)
        {
            int at = identity.IndexOf(':');
            string id = identity.Substring(at + 1);
            switch (identity.Substring(0, at))
            {
                case "machine-id": return MachineWith(JsonText.Object("platform", Machine.Linux, "files", JsonText.Object("/etc/machine-id", id)));
                case "dmi": return MachineWith(JsonText.Object("platform", Machine.Linux, "files", JsonText.Object("/sys/class/dmi/id/product_uuid", id)));
                case "ioplatform": return MachineWith(JsonText.Object("platform", Machine.Mac, "files", JsonText.Object("ioplatform", id)));
                case "machine-guid": return MachineWith(JsonText.Object("platform", Machine.Windows, "files", JsonText.Object("machine-guid", id)));
                case "hostid": return MachineWith(JsonText.Object("platform", "other", "files", JsonText.Object("/etc/hostid", id)));
                default:
                    return MachineWith(JsonText.Object("platform", Machine.Linux, "macs", new List<object> { id.Substring(0, 17) }, "hostname", id.Substring(18)));
            }
        }

        private static Json DescribePart(Json request)
        {
            string part = JsonText.Text(request, "part");
            string value = JsonText.Text(request, "value");
            string path = part == "machine" ? "/etc/machine-id" : part == "board" ? "/sys/class/dmi/id/product_uuid" : "/sys/block/nvme0n1/device/serial";
            Machine machine = MachineWith(part == "network"
                ? JsonText.Object("platform", Machine.Linux, "macs", new List<object> { value })
                : JsonText.Object("platform", Machine.Linux, "files", JsonText.Object(path, value)));
            Json parts = JsonText.Child(DeviceParts.Describe(JsonText.Text(request, "appId"), machine), "parts");
            return new Json { ["hash"] = JsonText.Text(parts, part) };
        }

        private static Json ToError(Exception error)
        {
            Json json = JsonText.Object("kind", "other", "code", error.ToString());
            if (error is KeywardException known) json["code"] = known.Code;
            if (error is KeywardUsageException) json["kind"] = "usage";
            if (error is KeywardSignatureException refused)
            {
                json["kind"] = "signature";
                json["status"] = (double)refused.Status;
            }
            if (error is KeywardNetworkException network)
            {
                json["kind"] = "network";
                json["outcomeUnknown"] = network.OutcomeUnknown;
                if (network.Status != null) json["status"] = (double)network.Status;
                if (network.RetryAfterMs != null) json["retryAfterMs"] = (double)network.RetryAfterMs;
                if (network.Offline != null) json["offline"] = network.Offline;
            }
            return JsonText.Object("error", json);
        }
    }
}
