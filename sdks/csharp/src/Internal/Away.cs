using System;
using System.Threading;
using System.Threading.Tasks;

namespace Keyward.Internal
{
    /// <summary>Whether the server is away, so that calls need not wait for it, and who asks it meanwhile.</summary>
    internal sealed class Away
    {
        private const double AwaySeconds = 60;
        private const double ProbePauseSeconds = 5;

        private readonly object _gate = new object();
        private double _until;
        private int _ends;
        private string _code;
        private double _nextProbeAt;
        private bool _isProbing;

        public Func<double> Elapsed = () => Clock.NowMs / 1000.0;

        /// <summary>The code of the last network error while the server is away, else null.</summary>
        public string Code
        {
            get { lock (_gate) return Elapsed() < _until ? _code : null; }
        }

        public void Note(KeywardNetworkException error)
        {
            lock (_gate)
            {
                _code = error.Code;
                _until = Elapsed() + AwaySeconds;
            }
        }

        public void End()
        {
            lock (_gate)
            {
                _until = 0;
                _ends++;
            }
        }

        /// <summary>Asks the server in the background, unless that is done already or was just tried.</summary>
        public void Probe(Func<Task> ask)
        {
            int ends;
            lock (_gate)
            {
                if (_isProbing || Elapsed() < _nextProbeAt) return;
                _isProbing = true;
                ends = _ends;
            }
            Task.Run(() => RunAsync(ask, ends));
        }

        private async Task RunAsync(Func<Task> ask, int ends)
        {
            try
            {
                await ask().ConfigureAwait(false);
                End();
            }
            catch (KeywardNetworkException error)
            {
                // The server may have answered another call since.
                if (ends == Volatile.Read(ref _ends)) Note(error);
            }
            catch (Exception)
            {
                // The next call learns from the server what is wrong.
                End();
            }
            lock (_gate)
            {
                _isProbing = false;
                _nextProbeAt = Elapsed() + ProbePauseSeconds;
            }
        }
    }
}
