using System;
using System.IO;
using System.Threading.Tasks;
using Keyward.Internal;

namespace Keyward
{
    /// <summary>A place that outlives the program, such as a file. Its content may be read and changed by the user.</summary>
    public interface IKeywardStorage
    {
        /// <summary>Returns what was last written; null or empty if there is nothing.</summary>
        Task<string> ReadAsync();
        Task WriteAsync(string text);
    }

    /// <summary>A place that several programs change: without a lock their changes may overwrite each other.</summary>
    public interface ILockedKeywardStorage : IKeywardStorage
    {
        /// <summary>Waits until no other program changes the content. Disposing the result lets the next one in.</summary>
        Task<IDisposable> LockAsync();
    }

    public static class KeywardStorage
    {
        /// <summary>
        /// A file of the app in the user's data folder, readable by the user alone. Programs in other languages on the same machine
        /// share it.
        /// </summary>
        public static readonly IKeywardStorage UserData = new FileStorage(null);

        /// <summary>A file of your own: it is created when needed, with the rights of the user alone.</summary>
        public static IKeywardStorage File(string path)
        {
            try
            {
                return new FileStorage(Path.GetFullPath(path));
            }
            catch (Exception cause) when (cause is ArgumentException || cause is NotSupportedException || cause is IOException)
            {
                throw new KeywardUsageException("invalid_options", "Storage: the path of the file is missing or broken", cause);
            }
        }
    }
}
