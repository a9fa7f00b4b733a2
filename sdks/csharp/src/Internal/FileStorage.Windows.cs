using System.Runtime.InteropServices;

namespace Keyward.Internal
{
    internal sealed partial class FileStorage
    {
        private static class Win
        {
            [DllImport("kernel32.dll", EntryPoint = "MoveFileExW", CharSet = CharSet.Unicode, SetLastError = true)]
            private static extern int MoveFile(string from, string to, int flags);

            /// <summary>1 replaces an existing file.</summary>
            public static bool TryReplace(string from, string to) => MoveFile(from, to, 1) != 0;
        }
    }
}
