import type { CustomerPage } from '@keyward/contract'
import { CallError } from './calls.ts'
import { type Child, h } from './dom.ts'
import { type Formats, fill } from './format.ts'
import type { Texts } from './texts/en.ts'

/** What every part of the page works with. */
export interface Context {
  page: CustomerPage
  texts: Texts
  /** The language tag of the texts. */
  tag: string
  formats: Formats
  token(): string | null
  /** Shows what has happened, and has screen readers say it. */
  say(text: string, tone?: 'good' | 'bad'): void
  /** Continues with this session, or signed out without one. */
  enter(token: string | null): Promise<void>
  /** Loads and shows everything again. */
  reload(): Promise<void>
  /** Signs out if the error says that the session has ended. Returns whether it did. */
  hasEnded(error: unknown): boolean
}

/** What an error means to the person who sees it. */
export function explain({ texts, formats }: Pick<Context, 'texts' | 'formats'>, error: unknown) {
  const { problems, refusal, refusals } = texts
  if (!(error instanceof CallError)) return problems.unknown
  if (error.status === 0) return problems.network
  if (error.status === 429) return fill(problems.tooMany, { when: formats.until(error.retryAfterSeconds) })
  if (error.code === 'userBanned' || error.code === 'keyBanned') {
    const { why, fix } = refusals[error.code]
    return `${why} ${fix} ${fill(refusal.says, { message: error.message })}`
  }
  return problems.unknown
}

/** A part of the page under its own heading. */
export function card(title: string, ...children: Child[]) {
  const heading = h('h2', { id: `part-${++cards}` }, title)
  return h('section', { class: 'card', 'aria-labelledby': heading.id }, heading, ...children)
}
let cards = 0

export const paragraph = (text: string, look = '') => h('p', { class: look || null }, text)

/** Pairs of a term and its value. */
export const facts = (pairs: readonly (readonly [term: string, value: Child] | undefined)[]) =>
  h(
    'dl',
    { class: 'facts' },
    ...pairs.flatMap((pair) => (pair ? [h('dt', {}, pair[0]), h('dd', {}, pair[1])] : [])),
  )

/** A key with a button that copies it. */
export function copyable({ texts, say }: Context, key: string) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(key)
      say(texts.page.copied)
    } catch {
      getSelection()?.selectAllChildren(code)
    }
  }
  const code = h('code', {}, key)
  return h(
    'div',
    { class: 'row' },
    code,
    h(
      'button',
      { type: 'button', 'aria-label': `${texts.page.copy} ${key}`, on: { click: () => void copy() } },
      texts.page.copy,
    ),
  )
}
