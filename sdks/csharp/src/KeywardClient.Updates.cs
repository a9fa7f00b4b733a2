using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    public sealed partial class KeywardClient
    {
        /// <summary>
        /// Finds the newest version that the license covers and that this one may update to, on the channel <c>stable</c> and for this
        /// machine by default. A program that nobody is signed in to passes <paramref name="licenseKey"/>; that also finds it after
        /// <c>noActiveSubs</c>, <c>updatesEnded</c>, <c>versionTooOld</c> and <c>noSeats</c>.
        /// </summary>
        public Task<UpdateResult> CheckForUpdateAsync(string channel = null, string platform = null, string architecture = null, string licenseKey = null,
            CancellationToken cancellationToken = default(CancellationToken)) => Run(async deadline =>
        {
            Dictionary<string, object> body = JsonText.Object(
                "platform", platform ?? Machine.ThisPlatform,
                "architecture", architecture ?? RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant(),
                "channel", channel, "licenseKey", licenseKey == null ? null : ToKey(licenseKey));
            Dictionary<string, object> json = await SignedInAsync(new Call("POST", "updates", body, repeatable: true), null, deadline, cancellationToken).ConfigureAwait(false);
            foreach (string name in new[] { "update", "beyond" })
            {
                bool isThere = json.TryGetValue(name, out object value) && (value == null || value is Dictionary<string, object>);
                if (true.Equals(json["ok"]) && !isThere) throw Unexpected("updates");
            }
            return new UpdateResult(json);
        }, cancellationToken);

        /// <summary>
        /// Downloads the file of an update into a folder and returns its path. The file appears there only if its size and SHA-512 are
        /// those that the server has signed, else <see cref="KeywardSignatureException"/> (<c>digest_mismatch</c>). After a
        /// <see cref="KeywardNetworkException"/> the next call goes on where this one stopped. <paramref name="onProgress"/> is called
        /// with the bytes received and the size. Follows redirects, over <c>https</c> alone.
        /// </summary>
        public Task<string> DownloadUpdateAsync(Update update, string folder, Action<long, long> onProgress = null,
            CancellationToken cancellationToken = default(CancellationToken)) => Run(deadline =>
        {
            Artifact artifact = Download.Checked(update);
            if (string.IsNullOrEmpty(folder)) throw new KeywardUsageException("invalid_argument", "folder must be a text");
            return new Download(_options, artifact, folder, onProgress, cancellationToken).RunAsync();
        }, cancellationToken);
    }
}
