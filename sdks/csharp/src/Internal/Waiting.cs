using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>Waits for a task that others share.</summary>
    internal static class Waiting
    {
        /// <summary>No longer than until <paramref name="deadline"/>, a time of <see cref="Clock.NowMs"/>.</summary>
        public static async Task<T> ForAsync<T>(Task<T> shared, long deadline, CancellationToken cancellationToken)
        {
            using (var done = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken))
            {
                Task end = Task.Delay((int)Math.Max(0, deadline - Clock.NowMs), done.Token);
                if (await Task.WhenAny(shared, end).ConfigureAwait(false) != shared)
                {
                    Ignore(shared);
                    cancellationToken.ThrowIfCancellationRequested();
                    throw new KeywardNetworkException("timed_out", "No answer in time", false);
                }
                done.Cancel();
                return await shared.ConfigureAwait(false);
            }
        }

        /// <summary>Observes the error of an abandoned task, so that it is not raised as unobserved.</summary>
        public static void Ignore(Task task) =>
            task.ContinueWith(done => done.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
    }
}
