/** @jsxImportSource preact */
import type { OwnEndUser } from '@keyward/contract'
import { useState } from 'preact/hooks'
import { Card, useCustomer } from './context.tsx'
import { fill } from './format.ts'
import type { Texts } from './texts/en.ts'

/** Why a program refuses to start, and what to do about it; nothing for a code that is no refusal. */
export function Explanation({ code }: { code: string }) {
  const words = useCustomer().texts.refusals[code as keyof Texts['refusals']]
  if (!words) return null
  return (
    <>
      <h3>{words.title}</h3>
      <p>{words.why}</p>
      <p>{words.fix}</p>
    </>
  )
}

type RefusalProps = Pick<OwnEndUser, 'refusedNow' | 'refusal'> & { name: string | null }

/** Why the program of an end user, or of a key, does not start now, or did not start last; with whose it is. */
export function Refusal({ refusedNow, refusal, name }: RefusalProps) {
  const { texts, formats, page } = useCustomer()
  const words = texts.refusal
  const code = refusedNow ?? refusal?.code
  if (code === undefined) return null
  return (
    <Card title={refusedNow === null ? words.last : words.now}>
      {name !== null && <p class="muted">{name}</p>}
      {refusedNow === null && refusal?.solved ? (
        <p class="notice good">{words.solved}</p>
      ) : (
        <div class={`notice ${refusedNow === null ? '' : 'warning'}`}>
          <Explanation code={code} />
        </div>
      )}
      {refusal?.code === code && (
        <p class="muted small">
          {[
            fill(words.said, { message: refusal.message, date: formats.moment(refusal.at) }),
            fill(words.reference, { vendor: page.vendor, reference: refusal.reference }),
          ].join(' ')}
        </p>
      )}
    </Card>
  )
}

/** Explains whatever a program says, without a sign-in. */
export function RefusalHelp() {
  const { texts, tag } = useCustomer()
  const [code, setCode] = useState('')
  const words = texts.refusal
  const entries = Object.entries(texts.refusals)
  return (
    <Card title={words.title}>
      <p class="muted">{words.help}</p>
      <div class="field">
        <label for="refusal">{words.question}</label>
        <select id="refusal" value={code} onChange={({ currentTarget }) => setCode(currentTarget.value)}>
          <option value="">{words.choose}</option>
          {entries
            .sort(([, one], [, other]) => one.title.localeCompare(other.title, tag))
            .map(([value, { title }]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
        </select>
      </div>
      <div aria-live="polite">
        <Explanation code={code} />
      </div>
    </Card>
  )
}
