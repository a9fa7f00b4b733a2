using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Security.Cryptography;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>Downloads the file of an update, and goes on where an earlier call stopped.</summary>
    internal sealed class Download
    {
        private const int MaxRedirects = 5;
        private const int ChunkBytes = 64 * 1024;

        private readonly CheckedOptions _options;
        private readonly Artifact _artifact;
        private readonly string _folder;
        private readonly Action<long, long> _onProgress;
        private readonly CancellationToken _cancellation;

        public Download(CheckedOptions options, Artifact artifact, string folder, Action<long, long> onProgress, CancellationToken cancellation)
        {
            _options = options;
            _artifact = artifact;
            _folder = folder;
            _onProgress = onProgress;
            _cancellation = cancellation;
        }

        /// <summary>The file of an update, which must be one that can be downloaded and stored under its name.</summary>
        public static Artifact Checked(Update update)
        {
            Artifact artifact = update?.Artifact;
            bool isFile = artifact != null && artifact.Size > 0 && IsFileName(artifact.Name) && ToSafe(null, artifact.Url) != null &&
                artifact.Sha512 != null && artifact.Sha512.Length == 128 && artifact.Sha512.All(each => "0123456789abcdef".IndexOf(each) >= 0);
            return isFile ? artifact : throw new KeywardUsageException("invalid_argument", "The update has no file that can be downloaded");
        }

        private static bool IsFileName(string name) =>
            !string.IsNullOrEmpty(name) && name.Any(each => each != '.') && !name.Any(each => each < ' ' || "/\\:".IndexOf(each) >= 0);

        /// <summary>An address that is encrypted or of this machine, else null.</summary>
        private static Uri ToSafe(Uri from, string address)
        {
            bool isAddress = from == null ? Uri.TryCreate(address, UriKind.Absolute, out Uri url) : Uri.TryCreate(from, address, out url);
            if (!isAddress) return null;
            bool isLocal = url.Host == "127.0.0.1" || url.Host == "[::1]" || url.Host == "localhost";
            return url.Scheme == "https" || (url.Scheme == "http" && isLocal) ? url : null;
        }

        /// <summary>Returns the path of the file. It has its name only once its digest is right; what has a wrong one is deleted.</summary>
        public async Task<string> RunAsync()
        {
            try
            {
                return await CompleteAsync().ConfigureAwait(false);
            }
            catch (Exception cause) when (cause is IOException || cause is UnauthorizedAccessException)
            {
                throw new KeywardUsageException("storage_failed", "The file cannot be stored in " + _folder, cause);
            }
        }

        private async Task<string> CompleteAsync()
        {
            string target = Path.Combine(_folder, _artifact.Name);
            string part = target + "." + _artifact.Sha512.Substring(0, 16) + ".part";
            Directory.CreateDirectory(_folder);
            if (DigestOf(target, null) == _artifact.Sha512) return target;
            for (;;)
            {
                long from = SizeOf(part);
                int status = from < _artifact.Size ? await ReceiveAsync(part, from).ConfigureAwait(false) : 200;
                // What gets the name is a copy of its own: another program may still write to the part.
                string copy = part + "." + Text.Of(Process.GetCurrentProcess().Id);
                bool isRight = DigestOf(part, copy) == _artifact.Sha512;
                if (isRight && File.Exists(target)) File.Replace(copy, target, null);
                else if (isRight) File.Move(copy, target);
                File.Delete(part);
                File.Delete(copy);
                if (isRight) return target;
                if (from == 0) throw new KeywardSignatureException("digest_mismatch", "The download is not the released file", status);
            }
        }

        /// <summary>Writes what the server has after the first bytes; begins anew where it does not go on from there.</summary>
        private async Task<int> ReceiveAsync(string part, long from)
        {
            using (HttpClient client = Http.ToFileClient(_options))
            {
                Uri url = ToSafe(null, _artifact.Url);
                for (int hops = 0; ; hops++)
                {
                    using (HttpResponseMessage response = await SendAsync(client, url, from).ConfigureAwait(false))
                    {
                        int status = (int)response.StatusCode;
                        bool isRedirect = new[] { 301, 302, 303, 307, 308 }.Contains(status) && response.Headers.Location != null;
                        if (!isRedirect) return await KeepAsync(response, url, part, from).ConfigureAwait(false);
                        url = ToSafe(url, response.Headers.Location.OriginalString);
                        if (url == null || hops == MaxRedirects) throw Refused(status);
                    }
                }
            }
        }

        private Task<HttpResponseMessage> SendAsync(HttpClient client, Uri url, long from)
        {
            var request = new HttpRequestMessage(HttpMethod.Get, url);
            request.Headers.TryAddWithoutValidation("User-Agent", SdkVersion.Sdk);
            request.Headers.TryAddWithoutValidation("Accept-Encoding", "identity");
            if (from > 0) request.Headers.Range = new System.Net.Http.Headers.RangeHeaderValue(from, null);
            // Some platforms resolve names and connect before they return.
            return InTimeAsync(Task.Run(() => client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, _cancellation)), client, url);
        }

        private async Task<int> KeepAsync(HttpResponseMessage response, Uri url, string part, long from)
        {
            int status = (int)response.StatusCode;
            bool goesOn = status == 206 && response.Content.Headers.ContentRange?.From == from;
            if (from > 0 && (status == 416 || (status == 206 && !goesOn)))
            {
                File.Delete(part);
                return status;
            }
            if (status != 200 && !goesOn) throw Refused(status);
            long at = goesOn ? from : 0;
            long end = response.Content.Headers.ContentLength + at ?? 0;
            using (Stream body = await InTimeAsync(response.Content.ReadAsStreamAsync(), response, url).ConfigureAwait(false))
            using (var file = new FileStream(part, goesOn ? FileMode.Open : FileMode.Create, FileAccess.Write))
            {
                file.Position = at;
                var chunk = new byte[ChunkBytes];
                while (at < _artifact.Size)
                {
                    int wanted = (int)Math.Min(chunk.Length, _artifact.Size - at);
                    int length = await InTimeAsync(body.ReadAsync(chunk, 0, wanted, _cancellation), response, url).ConfigureAwait(false);
                    // Some platforms end the stream without an error if the connection breaks.
                    if (length <= 0 && at < end) throw Http.ToNetworkException(new EndOfStreamException("The connection broke"), url);
                    if (length <= 0) break;
                    file.Write(chunk, 0, length);
                    at += length;
                    _onProgress?.Invoke(at, _artifact.Size);
                }
            }
            return status;
        }

        /// <summary>Waits for the next bytes; closes what they would come from if they do not come in time.</summary>
        private async Task<T> InTimeAsync<T>(Task<T> step, IDisposable source, Uri url)
        {
            using (var stop = CancellationTokenSource.CreateLinkedTokenSource(_cancellation))
            {
                bool isDone = await Task.WhenAny(step, Task.Delay(_options.TimeoutMs, stop.Token)).ConfigureAwait(false) == step;
                stop.Cancel();
                if (!isDone)
                {
                    Waiting.Ignore(step);
                    Waiting.Ignore(Task.Run(() => source.Dispose()));
                    _cancellation.ThrowIfCancellationRequested();
                    throw new KeywardNetworkException("timed_out", "No answer from " + url + " in time", false);
                }
            }
            try
            {
                return await step.ConfigureAwait(false);
            }
            catch (Exception error) when (!(error is KeywardException))
            {
                _cancellation.ThrowIfCancellationRequested();
                throw Http.ToNetworkException(error, url);
            }
        }

        private KeywardNetworkException Refused(int status) => new KeywardNetworkException(
            status == 429 ? "rate_limited" : status >= 500 ? "server_error" : "wrong_address", _artifact.Url + " answered " + Text.Of(status), false, status);

        /// <summary>SHA-512 of a file in hex, which is copied at the same time; null without it.</summary>
        private static string DigestOf(string path, string copy)
        {
            if (SizeOf(path) == 0) return null;
            using (SHA512 hash = SHA512.Create())
            using (FileStream file = File.OpenRead(path))
            using (Stream copied = copy == null ? Stream.Null : new FileStream(copy, FileMode.Create, FileAccess.Write))
            {
                var chunk = new byte[ChunkBytes];
                for (int length; (length = file.Read(chunk, 0, chunk.Length)) > 0;)
                {
                    hash.TransformBlock(chunk, 0, length, null, 0);
                    copied.Write(chunk, 0, length);
                }
                hash.TransformFinalBlock(chunk, 0, 0);
                return Bytes.ToHex(hash.Hash);
            }
        }

        /// <summary>0 without the file.</summary>
        private static long SizeOf(string path)
        {
            var file = new FileInfo(path);
            return file.Exists ? file.Length : 0;
        }
    }
}
