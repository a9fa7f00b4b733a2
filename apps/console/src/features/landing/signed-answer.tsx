import { Check } from 'lucide-react'

const codeClass = 'overflow-x-auto p-5 font-mono text-xs leading-6 sm:p-6 sm:text-[0.8125rem]'

const guarantees = [
  'A fake server cannot sign: the private key never leaves your server.',
  'A recorded answer is rejected: each contains the nonce of its request.',
  'A changed body is rejected: the signature covers its digest.',
  'Standards only: RFC 9421 signatures, RFC 9530 digests, Ed25519.',
]

export function SignedAnswer() {
  return (
    <section
      aria-labelledby="signed-title"
      className="grid items-center gap-12 py-20 sm:py-28 lg:grid-cols-2 lg:gap-16"
    >
      <div>
        <h2 id="signed-title" className="text-3xl font-semibold tracking-tight text-balance">
          A verdict that cannot be forged
        </h2>
        <p className="mt-3 text-lg leading-8 text-fg-muted text-pretty">
          Most license checks can be defeated by a fake server that answers “yes”. Here every answer proves
          where it comes from and which request it belongs to.
        </p>
        <ul className="mt-8 space-y-3">
          {guarantees.map((guarantee) => (
            <li key={guarantee} className="flex gap-3 text-[0.9375rem] leading-7">
              <Check aria-hidden className="mt-1.5 size-4 shrink-0 text-success" />
              {guarantee}
            </li>
          ))}
        </ul>
      </div>
      <figure className="min-w-0 overflow-hidden rounded-2xl border border-line bg-surface">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre tabIndex={0} className={codeClass}>
          <code>
            <span className="text-fg-muted">GET</span> /api/client/session{'\n'}
            <span className="text-fg-muted">403</span> userBanned{'\n\n'}
            <span className="text-fg-muted">content-digest:</span> sha-256=:…:{'\n'}
            <span className="text-fg-muted">signature-input:</span> keyward=({'\n'}
            {'  '}"@status" "content-digest"{'\n'}
            {'  '}"@method";req "@path";req{'\n'}
            {'  '}
            <mark className="rounded bg-accent-soft px-1 text-accent-text">"keyward-nonce";req</mark>
            {'\n'}
            {'  '}"authorization";req{'\n'}
            );created=…;keyid="…";alg="ed25519"{'\n'}
            <span className="text-fg-muted">signature:</span> keyward=:…:
          </code>
        </pre>
        <figcaption className="border-t border-line px-5 py-3 text-xs text-fg-muted sm:px-6">
          What the signature covers. The SDK verifies it for you, on every answer.
        </figcaption>
      </figure>
    </section>
  )
}
