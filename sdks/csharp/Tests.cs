// What the conformance harness cannot see from outside: threads, cultures, cancellation and the types of the API.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    internal static class Tests
    {
        private static Dictionary<string, object> _facts;

        /// <summary>Prints a line of JSON for each test: its name and the problem, if there is one.</summary>
        private static int Main(string[] args)
        {
            JsonText.TryParse(File.ReadAllText(args[0]), out object facts);
            _facts = (Dictionary<string, object>)facts;
            if (args.Length > 1) return args[1] == "json" ? Json() : args[1] == "machine" ? SignIn() : Properties(args[1] == "windows");
            Run("does not hang a UI thread that blocks on a result", BlockedUiThread);
            Run("returns to no caller's synchronization context", NoContext);
            Run("ends a call with OperationCanceledException as soon as the caller cancels", Cancellation);
            Run("opens one session for 32 threads that start at once", OneSession);
            Run("does not let one caller cancel the session that others wait for", SharedSession);
            Run("has the same answers in Turkish, German, Thai and Persian", Cultures);
            Run("shows an answer through typed members", Typed);
            Run("shows a refusal through typed members", TypedRefusal);
            Run("survives JSON that is nested 100,000 deep", DeepJson);
            Run("rejects options that would inject a header", Injection);
            Run("rejects a hardware id that is null by mistake", NullHwid);
            Run("keeps working online while the storage cannot be written", BrokenStorage);
            Run("reports a storage that cannot be written to a machine that is never online", NeverOnline);
            Run("creates its file for the user alone", Permissions);
            Run("removes the lock of a program that was ended", StaleLock);
            Run("loses no change of two clients on one file", TwoClients);
            Run("reports a handler that fails as a network error", BrokenHandler);
            Run("ignores a log hook that throws, and names no secret in events", Log);
            Run("names what is wrong with a certificate", CertificateErrors);
            Run("verifies a signature in less than 20 ms on average", Speed);
            return 0;
        }

        private static void Run(string name, Action test)
        {
            string problem = null;
            try
            {
                test();
            }
            catch (Exception error)
            {
                problem = error.ToString();
            }
            Console.WriteLine(JsonText.Write(new Dictionary<string, object> { ["name"] = name, ["problem"] = problem }));
        }

        /// <summary>Answers each line that holds a text in quotes with what the text is as JSON, or with nothing.</summary>
        private static int Json()
        {
            var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
            var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
            for (string line = input.ReadLine(); line != null; line = input.ReadLine())
            {
                JsonText.TryParse(line, out object text);
                output.Write(JsonText.TryParse((string)text, out object value) ? JsonText.Write(value) + "\n" : "\n");
            }
            output.Flush();
            return 0;
        }

        /// <summary>Prints what the registry of a system has: null for nothing, and the name of a failure.</summary>
        private static int Properties(bool isWindows)
        {
            var found = new Dictionary<string, object>();
            foreach (string name in new[] { "machine", "board", "disk" })
            {
                try
                {
                    found[name] = isWindows ? WindowsRegistry.Read(name) : MacRegistry.Read(name);
                }
                catch (Machine.AbsentException)
                {
                    found[name] = null;
                }
                catch (Exception error)
                {
                    found[name] = error.GetType().Name;
                }
            }
            Console.WriteLine(JsonText.Write(found));
            return 0;
        }

        /// <summary>Signs in with all defaults.</summary>
        private static int SignIn()
        {
            var options = new KeywardOptions
            {
                BaseUrl = Fact("baseUrl"), AppId = "app12345", Secret = "s", PublicKeys = Fact("publicKeys"), Version = "1.0.0", Storage = KeywardStorage.UserData,
            };
            return new KeywardClient(options).LicenseAsync("KEY").Result.Ok ? 0 : 1;
        }

        private static void CertificateErrors()
        {
            var url = new Uri("https://licenses.test/api");
            Func<string, double, string> judged = (problem, now) =>
            {
                KeywardNetworkException error = Certificates.ToError(new InvalidOperationException("Outer", new IOException(problem)), url, now);
                Expect(error == null || (!error.OutcomeUnknown && error.Message.StartsWith("The certificate of https://licenses.test ")), problem);
                return error == null ? null : error.Code + ": " + error.Message.Substring(41, 10);
            };
            const double later = 1900000000;
            const string dotNet = "The remote certificate is invalid because of errors in the certificate chain: ";
            Expect(judged(dotNet + "NotTimeValid", later) == "certificate: has expire", "an expired certificate");
            Expect(judged(dotNet + "NotTimeValid", 1000) == "clock: is not val", "a clock that was never right");
            Expect(judged(dotNet + "UntrustedRoot", later) == "certificate: is not tru", "a certificate that is not trusted");
            Expect(judged("Ssl error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED\n  at ./handshake_client.c", later) ==
                "certificate: is not tru", "a certificate that Mono rejects");
            Expect(judged("The handshake failed due to an unexpected packet format.", later) == null, "another failure of TLS");
        }

        private static void Expect(bool isTrue, string what)
        {
            if (!isTrue) throw new InvalidOperationException("Expected: " + what);
        }

        private static string Fact(string name) => (string)_facts[name];

        private static KeywardOptions Options(string space) => new KeywardOptions
        {
            BaseUrl = Fact(space), AppId = "app12345", Secret = "top-secret", PublicKeys = Fact("publicKeys"), Version = "1.0.0", Hwid = "machine-1", TimeoutMs = 20000,
        };

        private static string NewFile(string name) => Path.Combine(Fact("folder"), Guid.NewGuid().ToString("N"), name);

        private static KeywardException Caught(Func<Task> call)
        {
            try
            {
                call().GetAwaiter().GetResult();
                return null;
            }
            catch (KeywardException error)
            {
                return error;
            }
        }

        /// <summary>As the message loop of a window: what is posted runs on one thread, one after the other.</summary>
        private sealed class UiContext : SynchronizationContext
        {
            private readonly BlockingCollection<Action> _work = new BlockingCollection<Action>();
            public int Posted;

            public override void Post(SendOrPostCallback callback, object state)
            {
                Interlocked.Increment(ref Posted);
                _work.Add(() => callback(state));
            }

            public void OnItsThread(Action action)
            {
                Exception failure = null;
                var thread = new Thread(() =>
                {
                    SetSynchronizationContext(this);
                    try
                    {
                        action();
                    }
                    catch (Exception error)
                    {
                        failure = error;
                    }
                }) { IsBackground = true };
                thread.Start();
                if (!thread.Join(60000)) throw new TimeoutException("The thread hangs");
                if (failure != null) throw failure;
            }
        }

        private static void BlockedUiThread()
        {
            var client = new KeywardClient(Options("normal"));
            new UiContext().OnItsThread(() =>
            {
                Expect(client.LicenseAsync("KEY").Result.Ok, "a license");
                Expect(client.SessionAsync().GetAwaiter().GetResult().Ok, "a session");
                client.LogoutAsync().Wait();
            });
        }

        private static void NoContext()
        {
            var context = new UiContext();
            KeywardOptions options = Options("normal");
            options.Hwid = HardwareId.FromAsync(async () => { await Task.Delay(1); return "machine-1"; });
            options.Storage = KeywardStorage.File(NewFile("app.json"));
            var client = new KeywardClient(options);
            context.OnItsThread(() => Expect(client.LicenseAsync("KEY").Result.Ok, "a license"));
            Expect(context.Posted == 0, "nothing posted, not " + context.Posted);
        }

        private static void Cancellation()
        {
            var client = new KeywardClient(Options("silent"));
            using (var source = new CancellationTokenSource(200))
            {
                DateTime start = DateTime.UtcNow;
                try
                {
                    client.LicenseAsync("KEY", source.Token).GetAwaiter().GetResult();
                    Expect(false, "a cancellation");
                }
                catch (OperationCanceledException)
                {
                    Expect(DateTime.UtcNow - start < TimeSpan.FromSeconds(5), "an end at once");
                }
            }
        }

        private static void OneSession()
        {
            var client = new KeywardClient(Options("once"));
            var start = new ManualResetEventSlim();
            Task<UserResult>[] calls = Enumerable.Range(0, 32).Select(_ => Task.Run(() =>
            {
                start.Wait();
                return client.LoginAsync("ada", "secret1");
            })).ToArray();
            start.Set();
            Task.WaitAll(calls);
            Expect(calls.All(call => call.Result.Ok), "32 sign-ins");
        }

        private static void SharedSession()
        {
            var client = new KeywardClient(Options("slow"));
            using (var source = new CancellationTokenSource(300))
            {
                Task<UserResult> impatient = client.LicenseAsync("KEY", source.Token);
                Task<UserResult> patient = client.LicenseAsync("KEY");
                Expect(patient.Result.Ok, "a license for the patient caller");
                Expect(impatient.ContinueWith(task => task.IsCanceled).Result, "a cancellation for the other");
            }
        }

        private static void Cultures()
        {
            CultureInfo before = CultureInfo.DefaultThreadCurrentCulture;
            try
            {
                foreach (string name in new[] { "tr-TR", "de-DE", "th-TH", "fa-IR", "" })
                {
                    CultureInfo.DefaultThreadCurrentCulture = new CultureInfo(name);
                    Thread.CurrentThread.CurrentCulture = CultureInfo.DefaultThreadCurrentCulture;
                    KeywardOptions options = Options("normal");
                    options.Storage = KeywardStorage.File(NewFile("İI.json"));
                    UserResult result = new KeywardClient(options).LicenseAsync("KEY").Result;
                    Expect(result.Ok && result.User.ExpiresAt == new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero), "the same end in " + name);
                    Expect(JsonText.Write(JsonText.Object("a", -1234567.5, "b", 1e21, "c", 1e-7)) == "{\"a\":-1234567.5,\"b\":1E+21,\"c\":1E-07}", "the same numbers in " + name);
                    Expect(JsonText.TryParse("[1.5,-0.25e2]", out object list) && ((List<object>)list).SequenceEqual(new object[] { 1.5, -25.0 }), "numbers read in " + name);
                    Expect(DefaultHwid.Of("app12345", Text.Lower("MACHINE-ID:III")) == DefaultHwid.Of("app12345", "machine-id:iii"), "the same letters in " + name);
                    Expect(Clock.ToIso(1767225600.5) == "2026-01-01T00:00:00.500Z", "the same dates in " + name);
                }
            }
            finally
            {
                CultureInfo.DefaultThreadCurrentCulture = before;
                Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
            }
        }

        private static void Typed()
        {
            var client = new KeywardClient(Options("normal"));
            InitResult opened = client.InitAsync().Result;
            Expect(opened.Ok && opened.AppName == "Tally" && opened.AppVersion == "1.0.0" && !opened.UpdateAvailable, "the app");
            Expect(client.Variable("greeting") == null && !client.Has("pro"), "nothing before the sign-in");
            UserResult result = client.LicenseAsync("KEY").Result;
            SessionUser user = result.User;
            Expect(user.Id == "usr_1" && user.Username == "ada" && user.Email == null && user.Term == "date" && !user.InGrace && user.HwidBound, "the user");
            Expect(user.CreatedAt == new DateTimeOffset(2025, 1, 1, 0, 0, 0, TimeSpan.Zero) && user.LastLoginAt == null && user.UpdatesUntil == null, "its times");
            Expect(user.Devices.Used == 1 && user.Devices.Limit == 1 && user.SeatUntil == null, "its devices");
            Expect(user.Features.SequenceEqual(new[] { "pro" }) && client.Has("pro") && !client.Has("other") && !client.Has(null), "its features");
            Expect(client.Variable("token") == "for users" && client.Variable("toString") == null && client.Variable(null) == null, "its variables");
            Expect(result.Offline == null && result.Code == null && result.Details == null && result.Data.ContainsKey("user"), "no more");
            client.LogoutAsync().Wait();
            Expect(!client.Has("pro") && client.Variable("token") == null, "nothing after the sign-out");
        }

        private static void TypedRefusal()
        {
            UserResult result = new KeywardClient(Options("refusing")).LicenseAsync("KEY").Result;
            Expect(!result.Ok && result.Code == LicenseState.NoSeats && result.Message == "All taken" && result.User == null, "a refusal");
            Expect(result.Reference == "ABCDEFGHJK" && result.Details.Until == new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero), "its facts");
            Expect(result.Details.Seats.Used == 3 && result.Details.Seats.Limit == 3 && result.Details.Devices == null && result.Details.ExpiresAt == null, "its numbers");
        }

        private static void DeepJson()
        {
            Expect(!JsonText.TryParse(new string('[', 100000), out _), "no value");
            Expect(!JsonText.TryParse(string.Concat(Enumerable.Repeat("{\"a\":", 100000)), out _), "no value");
            Expect(JsonText.TryParse(new string('[', 64) + new string(']', 64), out _), "a value within the bound");
            Expect(Caught(() => new KeywardClient(Options("deep")).LicenseAsync("KEY"))?.Code == "unexpected_answer", "no verdict of a signed answer");
            Expect(Caught(() => new KeywardClient(Options("deepUnsigned")).LicenseAsync("KEY"))?.Code == "blocked", "no verdict of an unsigned answer");
            string file = NewFile("deep.json");
            Directory.CreateDirectory(Path.GetDirectoryName(file));
            File.WriteAllText(file, "{\"activation\":" + new string('[', 100000));
            KeywardOptions options = Options("normal");
            options.Storage = KeywardStorage.File(file);
            Expect(new KeywardClient(options).LicenseAsync("KEY").Result.Ok, "a license beside a broken file");
        }

        private static void Injection()
        {
            Action<Action<KeywardOptions>> refused = change =>
            {
                KeywardOptions options = Options("normal");
                try
                {
                    change(options);
                    new KeywardClient(options);
                    Expect(false, "a refusal of the options");
                }
                catch (KeywardUsageException error)
                {
                    Expect(error.Code == "invalid_options" && !error.Message.Contains("hunter2"), error.Message);
                }
            };
            const string x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
            refused(options => options.AppId = "app\r\nX-Evil: 1");
            refused(options => options.AppId = "app\0");
            refused(options => options.PublicKeys = new PublicJwk { Kid = "a\r\nX-Evil: 1", X = x });
            refused(options => options.PublicKeys = new PublicJwk { Kid = "a,b", X = x });
            refused(options => options.PublicKeys = "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"x\":\"" + x + "\",\"d\":\"\"}");
            refused(options => options.PublicKeys = "not JSON");
            refused(options => options.PublicKeys = (string)null);
            refused(options => options.PublicKeys = null);
            refused(options => options.PublicKeys = new PublicJwk[] { null });
            refused(options => options.BaseUrl = "http://user:hunter2@localhost");
            refused(options => options.BaseUrl = "file:///etc/passwd");
            refused(options => options.BaseUrl = "/etc/passwd");
            refused(options => options.BaseUrl = "http://localhost/?a=b");
            refused(options => options.Proxy = "http://a:hunter2%0d%0aX-Evil@localhost:1");
            refused(options => options.Proxy = "https://a:hunter2@localhost:1");
            refused(options => options.Proxy = "hunter2");
            refused(options => options.Storage = KeywardStorage.File("a\0b"));
            refused(options => options.Storage = KeywardStorage.File(""));
            refused(options => options.Storage = KeywardStorage.File(null));
            refused(options => options.TimeoutMs = 99);
            refused(options => options.Version = "");
            foreach (string header in new[] { "nonce\r\nX-Evil: 1", "\0", "\ud800" })
            {
                KeywardException error = Caught(() => new KeywardClient(Options("normal")).FreeDeviceAsync(header));
                Expect(error == null || error.Code == "invalid_argument" || error is KeywardNetworkException, "an id that is escaped or refused");
            }
        }

        private static void NullHwid()
        {
            KeywardOptions options = Options("normal");
            options.Hwid = (string)null;
            Expect(Caught(() => Task.Run(() => new KeywardClient(options)))?.Code == "invalid_options", "a refusal of a null text");
            options.Hwid = null;
            Expect(Caught(() => Task.Run(() => new KeywardClient(options)))?.Code == "invalid_options", "a refusal of null");
            options.Hwid = HardwareId.From(() => null);
            Expect(Caught(() => new KeywardClient(options).LicenseAsync("KEY"))?.Code == "invalid_options", "a refusal of a function that returns null");
            options.Hwid = HardwareId.FromAsync(() => Task.FromException<string>(new OperationCanceledException()));
            Expect(Caught(() => new KeywardClient(options).LicenseAsync("KEY"))?.Code == "hwid_unavailable", "a usage error of a function that fails");
        }

        private static string BelowAFile()
        {
            string file = NewFile("file");
            Directory.CreateDirectory(Path.GetDirectoryName(file));
            File.WriteAllText(file, "");
            return Path.Combine(file, "folder", "app.json");
        }

        private static void BrokenStorage()
        {
            foreach (IKeywardStorage storage in new[] { KeywardStorage.File(BelowAFile()), KeywardStorage.File("/dev/full/app.json"), new Throwing() })
            {
                KeywardOptions options = Options("normal");
                options.Storage = storage;
                var client = new KeywardClient(options);
                Expect(client.LicenseAsync("KEY").Result.Ok && client.SessionAsync().Result.Ok, "a license");
                Expect(client.LogoutAsync().Result.Ok, "a sign-out");
            }
        }

        private static void NeverOnline()
        {
            foreach (IKeywardStorage storage in new[] { KeywardStorage.File(BelowAFile()), new Throwing() })
            {
                KeywardOptions options = Options("normal");
                options.Storage = storage;
                Expect(Caught(() => new KeywardClient(options).OfflineRequestAsync("KEY"))?.Code == "storage_failed", "storage_failed");
            }
            Expect(Caught(() => new KeywardClient(Options("normal")).OfflineRequestAsync("KEY"))?.Code == "invalid_options", "a refusal without a storage");
            KeywardOptions some = Options("normal");
            some.Storage = KeywardStorage.File(NewFile("app.json"));
            var client = new KeywardClient(some);
            string pairs = string.Concat(Enumerable.Repeat("\ud83d\udd11", 100));
            Expect(client.OfflineRequestAsync(pairs).Result.StartsWith("KWR1-", StringComparison.Ordinal), "100 characters beyond 16 bits");
            Expect(Caught(() => client.OfflineRequestAsync(pairs + "a"))?.Code == "invalid_argument", "no more than 100");
            Expect(Caught(() => client.OfflineRequestAsync(" \ufeff\t"))?.Code == "invalid_argument", "no empty key");
            Expect(Caught(() => client.ActivateOfflineAsync(new string('a', 2000000)))?.Code == "activation_rejected", "no endless file");
            Expect(Caught(() => client.DeactivateOfflineAsync())?.Code == "no_activation", "no activation");
        }

        private sealed class Throwing : IKeywardStorage
        {
            public Task<string> ReadAsync() { throw new NotSupportedException(); }
            public Task WriteAsync(string text) { throw new NotSupportedException(); }
        }

        private static void Permissions()
        {
            KeywardOptions options = Options("remembering");
            options.Storage = KeywardStorage.File(Fact("permissions"));
            UserResult result = new KeywardClient(options).LicenseAsync("KEY").Result;
            Expect(result.Ok && !result.Data.ContainsKey("deviceToken"), "a token that the program never sees");
            Expect(File.ReadAllText(Fact("permissions")).Contains("token-1"), "the token in the file");
        }

        private static void StaleLock()
        {
            string file = NewFile("app.json");
            Directory.CreateDirectory(Path.GetDirectoryName(file));
            File.WriteAllText(file + ".lock", "");
            File.SetLastWriteTimeUtc(file + ".lock", DateTime.UtcNow.AddMinutes(-1));
            using (IDisposable taken = new FileStorage(file).LockAsync().Result) Expect(taken != null, "a lock that is taken");
            Expect(!File.Exists(file + ".lock"), "a lock that is released");
            File.WriteAllText(file + ".lock", "");
            Expect(new FileStorage(file).LockAsync().Result == null, "to go on without a lock that another program keeps");
        }

        private static void TwoClients()
        {
            string file = NewFile("app.json");
            Directory.CreateDirectory(Path.GetDirectoryName(file));
            File.WriteAllText(file, "{\"added\":{\"by\":\"a newer version\"}}");
            Task[] changes = Enumerable.Range(0, 8).Select(i => Task.Run(async () =>
            {
                var offline = new Offline(new FileStorage(file), "app12345", KeyRing.From(Fact("publicKeys")));
                if (i % 2 == 0) await offline.KeepDeviceTokenAsync("token-" + i, () => true);
                else await offline.RequestNonceAsync("KEY");
            })).ToArray();
            Task.WaitAll(changes);
            string kept = File.ReadAllText(file);
            Expect(kept.Contains("\"token-") && kept.Contains("\"pending\"") && kept.Contains("a newer version"), kept);
            Expect(Directory.GetFiles(Path.GetDirectoryName(file)).Length == 1, "no draft and no lock left");
        }

        private sealed class Failing : System.Net.Http.HttpMessageHandler
        {
            protected override Task<System.Net.Http.HttpResponseMessage> SendAsync(System.Net.Http.HttpRequestMessage request, CancellationToken cancellationToken)
            {
                throw new InvalidOperationException("It fails on purpose");
            }
        }

        private static void BrokenHandler()
        {
            KeywardOptions options = Options("normal");
            options.Handler = new Failing();
            var error = Caught(() => new KeywardClient(options).RegisterAsync("ada", "secret1", "KEY")) as KeywardNetworkException;
            Expect(error != null && error.OutcomeUnknown && error.Code == "connection_lost", "a network error");
        }

        private static void Log()
        {
            var events = new ConcurrentQueue<LogEvent>();
            KeywardOptions options = Options("normal");
            options.Log = each =>
            {
                events.Enqueue(each);
                throw new InvalidOperationException("It fails on purpose");
            };
            Expect(new KeywardClient(options).LoginAsync("ada", "pass-word").Result.Ok, "a sign-in");
            string text = string.Join(" ", events.Select(each => each.Event + each.Call + each.Code + each.Reference));
            Expect(events.Count == 4 && !text.Contains("pass-word") && !text.Contains("top-secret") && !text.Contains("machine-1"), text);
        }

        private static void Speed()
        {
            var key = new VerifyKey(Bytes.FromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
            byte[] signature = Bytes.FromHex("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
            // Processor time: other programs may take turns.
            using (Process process = Process.GetCurrentProcess())
            {
                TimeSpan start = process.TotalProcessorTime;
                for (int i = 0; i < 100; i++) Expect(key.Verify(new byte[0], signature), "a valid signature");
                process.Refresh();
                double ms = (process.TotalProcessorTime - start).TotalMilliseconds / 100;
                Expect(ms < 20, "less than " + ms);
            }
        }
    }
}
