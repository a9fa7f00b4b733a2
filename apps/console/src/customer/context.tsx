/** @jsxImportSource preact */
import type { BodyInputOf, CustomerPage, DataOf } from '@keyward/contract'
import { type ComponentChildren, createContext, type VNode } from 'preact'
import { useContext, useId, useRef } from 'preact/hooks'
import { CallError, type CallInput, type Calls } from './calls.ts'
import { fill } from './format.ts'
import type { Words } from './languages.ts'

/** What every part of the page works with. */
export interface Customer extends Words {
  page: CustomerPage
  /** Calls the server as who is signed in. If the session has ended, it shows the sign-in, and never answers. */
  ask<N extends keyof Calls>(name: N, input?: CallInput<N>): Promise<DataOf<Calls[N]>>
  /** Shows what has happened, and has screen readers say it. */
  say(text: string, tone?: 'good' | 'bad'): void
  signIn(proof: BodyInputOf<Calls['login']>): Promise<void>
  signOut(): Promise<void>
  /** Loads and shows everything again. */
  reload(): Promise<void>
}

export const CustomerContext = createContext({} as Customer)
export const useCustomer = () => useContext(CustomerContext)

/** What an error means to the person who sees it. */
export function explain({ texts, formats }: Words, error: unknown) {
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
export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

/** A list, or what is said instead of an empty one. */
export const Rows = ({ none, children }: { none: string; children: VNode[] }) =>
  children.length > 0 ? <ul class="rows">{children}</ul> : <p class="muted">{none}</p>

/** A term and its value in a list of facts. */
export const Fact = ({ term, children }: { term: string; children: ComponentChildren }) => (
  <>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </>
)

/** A key with a button that copies it. */
export function Copyable({ value }: { value: string }) {
  const { texts, say } = useCustomer()
  const { copy, copied } = texts.page
  const code = useRef<HTMLElement>(null)
  const onClick = async () => {
    try {
      await navigator.clipboard.writeText(value)
      say(copied)
    } catch {
      getSelection()?.selectAllChildren(code.current!)
    }
  }
  return (
    <div class="row">
      <code ref={code}>{value}</code>
      <button type="button" aria-label={`${copy} ${value}`} onClick={onClick}>
        {copy}
      </button>
    </div>
  )
}
