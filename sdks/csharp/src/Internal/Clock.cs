using System;
using System.Diagnostics;
using System.Globalization;
using System.Linq;

namespace Keyward.Internal
{
    /// <summary>Milliseconds that no change of the clock affects.</summary>
    internal static class Clock
    {
        private static readonly Stopwatch Running = Stopwatch.StartNew();
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);

        public static long NowMs => Running.ElapsedMilliseconds;
        public static double UnixSeconds => (DateTime.UtcNow - Epoch).TotalSeconds;

        /// <summary>As <c>Date.toISOString</c>, within the years that .NET has.</summary>
        public static string ToIso(double seconds)
        {
            double latest = (DateTime.MaxValue - Epoch).TotalMilliseconds;
            double ms = Math.Min(Math.Max(Math.Floor(seconds * 1000), 0), latest);
            return new DateTime(Epoch.Ticks + Math.Min((long)ms * TimeSpan.TicksPerMillisecond, DateTime.MaxValue.Ticks - Epoch.Ticks), DateTimeKind.Utc)
                .ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        }
    }
}
