import { ShieldCheck } from 'lucide-react'

const codeClass = 'overflow-x-auto p-5 font-mono text-xs leading-6 sm:p-6 sm:text-[0.8125rem]'

const attacks = [
  {
    attack: 'A fake license server',
    defense: 'It cannot sign: the private key never leaves your server. The SDK rejects its answer.',
  },
  {
    attack: 'A recorded “yes”, replayed',
    defense: 'Each answer carries the nonce of its own request, so an old one is rejected.',
  },
  {
    attack: 'An answer changed on the way',
    defense: 'Status and body are part of the signature. One changed byte fails the check.',
  },
  {
    attack: 'One key on many machines',
    defense: 'The key is locked to the first machine; any other one gets hwidMismatch.',
  },
  {
    attack: 'A computer clock set back',
    defense: 'The server decides when a license expires, by its own clock.',
  },
]

export function SignedAnswer() {
  return (
    <section
      aria-labelledby="signed-title"
      className="grid items-start gap-12 py-20 sm:py-28 lg:grid-cols-2 lg:gap-16"
    >
      <div>
        <h2 id="signed-title" className="text-3xl font-semibold tracking-tight text-balance">
          A verdict that cannot be forged
        </h2>
        <p className="mt-3 text-lg leading-8 text-fg-muted text-pretty">
          Most license checks can be defeated by a fake server that answers “yes”. Here every answer proves
          where it comes from and which request it belongs to.
        </p>
        <h3 className="mt-8 font-semibold text-base">What a signed verdict stops</h3>
        <dl className="mt-3 divide-y divide-line">
          {attacks.map(({ attack, defense }) => (
            <div key={attack} className="py-3">
              <dt className="flex items-center gap-2.5 font-medium text-[0.9375rem]">
                <ShieldCheck aria-hidden className="size-4 shrink-0 text-success" />
                {attack}
              </dt>
              <dd className="mt-1 pl-6.5 text-[0.9375rem] leading-6 text-fg-muted text-pretty">{defense}</dd>
            </div>
          ))}
        </dl>
        <p className="mt-4 text-sm leading-6 text-fg-muted text-pretty">
          It cannot stop someone who removes the check from a copy of your program. No license server can;
          deliver what matters only after a verdict.
        </p>
      </div>
      <figure className="min-w-0 overflow-hidden rounded-2xl border border-line bg-surface lg:sticky lg:top-24">
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
          What the signature covers: RFC 9421, RFC 9530 and Ed25519, nothing home-made. The SDK verifies it
          for you, on every answer.
        </figcaption>
      </figure>
    </section>
  )
}
