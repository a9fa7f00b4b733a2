import { useState } from 'react'

const codeClass = 'overflow-x-auto px-5 py-5 font-mono text-xs leading-6 sm:text-[0.8125rem]'

interface Situation {
  name: string
  code?: string
  message: string
}

const situations: [Situation, ...Situation[]] = [
  { name: 'Valid', message: 'Successfully logged in' },
  { name: 'Banned', code: 'userBanned', message: 'User account is banned' },
  { name: 'Other machine', code: 'hwidMismatch', message: 'Hardware ID mismatch' },
  { name: 'Expired', code: 'noActiveSubs', message: 'No active subscription found' },
]

/** Shows the call of a vendor's program and the SDK's result in each situation. */
export function VerdictDemo() {
  const [chosen, setChosen] = useState(situations[0])

  return (
    <figure className="overflow-hidden rounded-2xl border border-line bg-surface shadow-pop">
      <div className="flex items-center justify-between border-b border-line px-5 py-3 text-xs text-fg-muted">
        <span className="font-mono">main.ts</span>
        <span>Your program</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className={codeClass}>
        <code>
          <Word>const</Word> keyward = <Word>new</Word> Keyward({'{\n'}
          {'  '}baseUrl, appId, secret,{'\n'}
          {'  '}publicKeys, version,{'\n'}
          {'})\n'}
          <Word>await</Word> keyward.init(){'\n\n'}
          <Word>const</Word> verdict = <Word>await</Word> keyward.license(key){'\n'}
          <Word>if</Word> (!verdict.ok) quit(verdict.message)
        </code>
      </pre>

      <div className="border-t border-line bg-sunken px-5 py-5">
        <fieldset>
          <legend className="text-xs text-fg-muted">When the license is</legend>
          <div className="mt-2 flex flex-wrap gap-1.5">
            {situations.map((situation) => (
              <button
                key={situation.name}
                type="button"
                aria-pressed={situation === chosen}
                onClick={() => setChosen(situation)}
                className="h-8 rounded-md border border-line bg-surface px-3 text-sm text-fg-muted transition-colors hover:text-fg aria-pressed:border-accent-text aria-pressed:text-fg"
              >
                {situation.name}
              </button>
            ))}
          </div>
        </fieldset>
        <div aria-live="polite" className="mt-4 min-h-28 rounded-lg border border-line bg-surface p-4">
          <p className="flex items-center gap-2 font-medium">
            <span
              aria-hidden
              data-ok={!chosen.code}
              className="size-2 rounded-full bg-danger data-[ok=true]:bg-success"
            />
            {chosen.code ? 'The program stops' : 'The program runs'}
          </p>
          <dl className="mt-3 grid grid-cols-[5.5rem_1fr] gap-y-1 font-mono text-[0.8125rem]">
            <Row name="ok" value={String(!chosen.code)} />
            {chosen.code ? <Row name="code" value={`'${chosen.code}'`} /> : null}
            <Row name="message" value={`'${chosen.message}'`} />
          </dl>
        </div>
      </div>
      <figcaption className="border-t border-line px-5 py-3 text-xs text-fg-muted">
        The SDK verifies the signature and the nonce before your code sees the verdict.
      </figcaption>
    </figure>
  )
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="text-fg-muted">{name}</dt>
      <dd className="break-words">{value}</dd>
    </>
  )
}

function Word({ children }: { children: string }) {
  return <span className="text-accent-text">{children}</span>
}
