using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>A file that the user alone can read, replaced in one step.</summary>
    internal sealed partial class FileStorage : ILockedKeywardStorage
    {
        /// <summary>A larger file is not one of an SDK.</summary>
        private const int MaxBytes = 4 * 1024 * 1024;
        /// <summary>A change takes milliseconds, so an older lock is that of a program that was ended.</summary>
        private static readonly TimeSpan StaleLock = TimeSpan.FromSeconds(10);
        private const int LongestWaitMs = 2000;
        private const int PollMs = 20;

        private readonly string _path;

        public FileStorage(string path) { _path = path; }

        /// <summary>The file of an app in the user's data folder.</summary>
        public static FileStorage OfApp(string appId)
        {
            string name = new string(appId.Select(each => Text.IsWord(each) ? each : '_').ToArray());
            return new FileStorage(Path.Combine(DataFolder(), "keyward", name + ".json"));
        }

        private static string DataFolder()
        {
            string platform = Machine.ThisPlatform;
            if (platform == Machine.Windows) return Variable("LOCALAPPDATA") ?? Path.Combine(Home(), "AppData", "Local");
            if (platform == Machine.Mac) return Path.Combine(Home(), "Library", "Application Support");
            return Variable("XDG_STATE_HOME") ?? Path.Combine(Home(), ".local", "state");
        }

        /// <summary>An empty variable counts as unset; a relative path would be another file in every folder.</summary>
        private static string Variable(string name)
        {
            string value = Environment.GetEnvironmentVariable(name);
            return string.IsNullOrEmpty(value) ? null : value;
        }

        private static string Home()
        {
            string home = Machine.ThisPlatform == Machine.Windows ? null : Environment.GetEnvironmentVariable("HOME");
            return string.IsNullOrEmpty(home) ? Environment.GetFolderPath(Environment.SpecialFolder.UserProfile) : home;
        }

        public async Task<string> ReadAsync()
        {
            try
            {
                using (var file = new FileStream(_path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete))
                {
                    if (file.Length > MaxBytes) return "";
                    using (var reader = new StreamReader(file, new UTF8Encoding(false), false)) return await reader.ReadToEndAsync().ConfigureAwait(false);
                }
            }
            catch (Exception error) when (error is FileNotFoundException || error is DirectoryNotFoundException)
            {
                return null;
            }
        }

        /// <summary>Creates the lock file; returns null where that is impossible.</summary>
        public async Task<IDisposable> LockAsync()
        {
            string path = Path.GetFullPath(_path) + ".lock";
            long endsAt = Clock.NowMs + LongestWaitMs;
            CreateFolder(Path.GetDirectoryName(path));
            string holder = Unix.DescribeProgram(Unix.OwnNumber()) ?? "";
            while (Clock.NowMs < endsAt)
            {
                bool? isOurs = TryCreate(path, holder);
                if (isOurs == true) return new FileLock { Path = path };
                if (isOurs == null) return null;
                if (!RemoveStale(path)) await Task.Delay(PollMs).ConfigureAwait(false);
            }
            return null;
        }

        /// <summary>Whether it was created; null where that is impossible. A lock without its text becomes stale by its age.</summary>
        private static bool? TryCreate(string path, string text)
        {
            bool? isWhole = text == "" ? null : Unix.TryCreateWhole(path, text);
            if (isWhole != null) return isWhole;
            try
            {
                using (var file = new FileStream(path, FileMode.CreateNew, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete))
                {
                    byte[] bytes = Text.ToUtf8(text);
                    file.Write(bytes, 0, bytes.Length);
                }
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // Windows reports a file that is being deleted as one that may not be opened.
                if (!File.Exists(path) && Machine.ThisPlatform != Machine.Windows && !IsThereNow(error)) return null;
                return false;
            }
        }

        /// <summary>Removes the lock of a program that was ended; returns whether it did.</summary>
        private static bool RemoveStale(string path)
        {
            if (!IsStale(path)) return false;
            // One program at a time, and each looks again: otherwise the second one would remove the lock that the first one took.
            string claim = path + ".claim";
            if (TryCreate(claim, "") != true)
            {
                if (IsOld(claim)) Remove(claim);
                return false;
            }
            try
            {
                return IsStale(path) && Remove(path);
            }
            finally
            {
                Remove(claim);
            }
        }

        private static bool IsStale(string path) => Unix.IsOfEndedProgram(path) || IsOld(path);

        private static bool IsOld(string path) => File.Exists(path) && (DateTime.UtcNow - File.GetLastWriteTimeUtc(path)).Duration() > StaleLock;

        /// <summary>Whether another program may have removed its lock since; all other errors stay.</summary>
        private static bool IsThereNow(Exception error) =>
            error is IOException && !(error is DirectoryNotFoundException) && !(error is PathTooLongException) && !(error is FileNotFoundException);

        private sealed class FileLock : IDisposable
        {
            public string Path;

            public void Dispose() => Remove(Path);
        }

        private static bool Remove(string path)
        {
            try
            {
                File.Delete(path);
                return true;
            }
            catch (Exception)
            {
                // It becomes stale.
                return false;
            }
        }

        private static void CreateFolder(string folder)
        {
            if (Machine.ThisPlatform == Machine.Windows) Directory.CreateDirectory(folder);
            else Unix.CreateFolder(folder);
        }

        public async Task WriteAsync(string text)
        {
            string path = Path.GetFullPath(_path);
            string draft = path + "." + Guid.NewGuid().ToString("D", CultureInfo.InvariantCulture) + ".tmp";
            bool isWindows = Machine.ThisPlatform == Machine.Windows;
            try
            {
                CreateFolder(Path.GetDirectoryName(path));
                bool isThere = !isWindows && Unix.TryCreateFile(draft);
                using (var file = new FileStream(draft, isThere ? FileMode.Open : FileMode.CreateNew, FileAccess.Write, FileShare.None))
                {
                    byte[] bytes = Text.ToUtf8(text);
                    await file.WriteAsync(bytes, 0, bytes.Length).ConfigureAwait(false);
                    await file.FlushAsync().ConfigureAwait(false);
                }
                for (int attempt = 1; !(isWindows ? Win.TryReplace(draft, path) : Unix.TryReplace(draft, path)); attempt++)
                {
                    // Another program may be reading the file on Windows.
                    if (!isWindows || attempt == 5) throw new IOException("The file could not be replaced");
                    await Task.Delay(20 * attempt).ConfigureAwait(false);
                }
            }
            catch (Exception)
            {
                Remove(draft);
                throw;
            }
        }

        /// <summary>Null where it cannot be read.</summary>
        internal static string LinkTarget(string path)
        {
            try
            {
                return Unix.TargetOf(path);
            }
            catch (Exception error) when (error is DllNotFoundException || error is EntryPointNotFoundException)
            {
                return null;
            }
        }
    }
}
