using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;

namespace Keyward.Internal
{
    internal sealed partial class FileStorage
    {
        /// <summary>.NET Standard 2.0 knows no permissions, and cannot replace a file on all systems.</summary>
        private static class Unix
        {
            [DllImport("libc", EntryPoint = "mkdir")]
            private static extern int MakeFolder(string path, uint mode);
            [DllImport("libc", EntryPoint = "creat")]
            private static extern int Create(string path, uint mode);
            [DllImport("libc", EntryPoint = "close")]
            private static extern int Close(int file);
            [DllImport("libc", EntryPoint = "rename")]
            private static extern int Rename(string from, string to);
            [DllImport("libc", EntryPoint = "kill", SetLastError = true)]
            private static extern int Signal(int program, int signal);
            [DllImport("libc", EntryPoint = "getpid")]
            private static extern int ProgramNumber();
            [DllImport("libc", EntryPoint = "readlink")]
            private static extern IntPtr ReadLink(string path, byte[] target, IntPtr size);

            [DllImport("libc", EntryPoint = "link", SetLastError = true)]
            private static extern int Link(string from, string to);

            private const int NoSuchProgram = 3;
            private const int LongestHolder = 4096;
            private const int Exists = 17;

            /// <summary>Creates a file together with its text; false if it exists, null where that is impossible.</summary>
            public static bool? TryCreateWhole(string path, string text)
            {
                if (File.Exists(path)) return false;
                // Written after it was created, the lock of a program that is killed in between would name no holder.
                string draft = path + "." + Guid.NewGuid().ToString("D", CultureInfo.InvariantCulture);
                try
                {
                    if (!TryCreateFile(draft)) return null;
                    File.WriteAllText(draft, text);
                    if (Link(draft, path) == 0) return true;
                    return Marshal.GetLastWin32Error() == Exists ? false : (bool?)null;
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || IsMissing(error))
                {
                    return null;
                }
                finally
                {
                    Remove(draft);
                }
            }

            public static int OwnNumber()
            {
                try
                {
                    return Machine.ThisPlatform == Machine.Linux ? ProgramNumber() : 0;
                }
                catch (Exception error) when (IsMissing(error))
                {
                    return 0;
                }
            }

            /// <summary>False wherever that cannot be known: on another machine, in another container, of an earlier version.</summary>
            public static bool IsOfEndedProgram(string path)
            {
                try
                {
                    string own = DescribeProgram(OwnNumber());
                    // Something else may be at its place: reading a pipe, whose length is 0, waits forever.
                    long length = own == null ? 0 : new FileInfo(path).Length;
                    string holder = length < 1 || length > LongestHolder ? "" : File.ReadAllText(path, Encoding.UTF8);
                    Match found = Regex.Match(holder, "\\A([1-9][0-9]{0,8}) [0-9]+ [^ \n]+\n\\z", RegexOptions.CultureInvariant);
                    if (!found.Success || PlaceOf(own) != PlaceOf(holder)) return false;
                    int number = int.Parse(found.Groups[1].Value, CultureInfo.InvariantCulture);
                    if (Signal(number, 0) != 0 && Marshal.GetLastWin32Error() == NoSuchProgram) return true;
                    // The system gives the number of an ended program to a new one.
                    string running = DescribeProgram(number);
                    return running != null && running != holder;
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || IsMissing(error))
                {
                    return false;
                }
            }

            private static string PlaceOf(string program) => program.Substring(program.LastIndexOf(' '));

            /// <summary>Number and start of a program, and where they are its own; null on systems other than Linux.</summary>
            public static string DescribeProgram(int number)
            {
                if (number == 0) return null;
                try
                {
                    string status = File.ReadAllText("/proc/" + Text.Of(number) + "/stat", Encoding.UTF8);
                    // The second field is the name in parentheses, which may contain spaces.
                    string[] fields = status.Substring(status.LastIndexOf(')') + 1).Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
                    string boot = File.ReadAllText("/proc/sys/kernel/random/boot_id", Encoding.UTF8).Trim();
                    string numbers = TargetOf("/proc/self/ns/pid");
                    if (numbers == null || fields.Length < 20 || fields[19].Any(each => each < '0' || each > '9')) return null;
                    return Text.Of(number) + " " + fields[19] + " " + boot + "/" + numbers + "/" + (TargetOf("/proc/self/ns/time") ?? "-") + "\n";
                }
                catch (Exception error) when (error is IOException || error is UnauthorizedAccessException || IsMissing(error))
                {
                    return null;
                }
            }

            public static string TargetOf(string path)
            {
                var target = new byte[256];
                int size = (int)ReadLink(path, target, new IntPtr(target.Length));
                return size > 0 ? Encoding.ASCII.GetString(target, 0, size) : null;
            }

            public static void CreateFolder(string folder)
            {
                if (folder == null || Directory.Exists(folder)) return;
                CreateFolder(Path.GetDirectoryName(folder));
                try
                {
                    MakeFolder(folder, 0x1c0);
                }
                catch (Exception error) when (IsMissing(error))
                {
                }
                Directory.CreateDirectory(folder);
            }

            public static bool TryCreateFile(string path)
            {
                try
                {
                    int file = Create(path, 0x180);
                    if (file >= 0) Close(file);
                    return file >= 0;
                }
                catch (Exception error) when (IsMissing(error))
                {
                    return false;
                }
            }

            public static bool TryReplace(string from, string to)
            {
                try
                {
                    return Rename(from, to) == 0;
                }
                catch (Exception error) when (IsMissing(error))
                {
                    if (File.Exists(to)) File.Replace(from, to, null);
                    else File.Move(from, to);
                    return true;
                }
            }

            private static bool IsMissing(Exception error) => error is DllNotFoundException || error is EntryPointNotFoundException;
        }
    }
}
