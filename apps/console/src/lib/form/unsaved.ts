import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { createListeners } from '../browser/listeners.ts'
import { accountId, onSignedOut } from './drafts.ts'

/** What was typed into a form of a page and not saved. */
interface Typed {
  opened: object
  values: object
}

export interface UnsavedForm extends Typed {
  key: string
  account: string
  title: string
  /** The page of the form. */
  to: string
  /** The number of changed fields; 0 if the input was dropped, because somebody else changed the same fields. */
  changes: number
}

/** In memory only: closing the window asks first. */
let unsaved: readonly UnsavedForm[] = []
/** Shows values in a form that is open. */
const mounted = new Map<string, (typed?: Typed) => void>()
const { subscribe, notify } = createListeners()

const ask = (event: BeforeUnloadEvent) => event.preventDefault()

function set(next: readonly UnsavedForm[]) {
  unsaved = next
  if (next.length > 0) window.addEventListener('beforeunload', ask)
  else window.removeEventListener('beforeunload', ask)
  notify()
}

const without = (key: string) => unsaved.filter((form) => form.key !== key)

onSignedOut(() => set([]))

/** The forms of this account with unsaved input, on whichever page they are. */
export function useUnsavedForms(): UnsavedForm[] {
  const account = accountId()
  return useSyncExternalStore(subscribe, () => unsaved).filter((form) => form.account === account)
}

/** Forgets what was typed on a page that is gone, and on those below it. */
export const forgetBelow = (path: string) => set(unsaved.filter(({ to }) => !to.startsWith(path)))

/** Forgets what was typed. Returns what takes that back. */
export function discard({ key }: UnsavedForm): () => void {
  const form = unsaved.find((one) => one.key === key)
  set(without(key))
  mounted.get(key)?.()
  return () => {
    if (!form || unsaved.some((one) => one.key === key)) return
    set([...unsaved, form])
    mounted.get(key)?.(form)
  }
}

const namesOf = (...of: object[]) => [...new Set(of.flatMap(Object.keys))] as (keyof object)[]
export const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const changedOf = ({ opened, values }: Typed) =>
  namesOf(opened, values).filter((name) => !isSame(opened[name], values[name]))

/** Restores unsaved input in a form, except in fields that somebody else has changed since: they show the stored value. */
function typedInto(opened: object, typed: Typed) {
  const all = changedOf(typed).filter((name) => !isSame(opened[name], typed.values[name]))
  const kept = all.filter((name) => isSame(opened[name], typed.opened[name]))
  const values = { ...opened, ...Object.fromEntries(kept.map((name) => [name, typed.values[name]])) }
  return { values, isLost: kept.length < all.length }
}

export interface UnsavedOptions<Values extends object> {
  title: string
  to: string
  opened: Values
  values: Values
  show: (values: Values) => void
}

/** Keeps what is typed into a form of a page until it is saved or discarded, also while another page is open. */
export function useUnsaved<Values extends object>(form: UnsavedOptions<Values>) {
  const { title, to, opened, values } = form
  // A session that ends leaves no account to a form that is still open.
  const [{ account, key }] = useState(() => {
    const account = accountId() ?? ''
    return { account, key: JSON.stringify([account, to, title]) }
  })
  const latest = useRef(form)
  latest.current = form
  const changed = changedOf({ opened, values })
  const state = JSON.stringify(changed.map((name) => [name, values[name as keyof Values]]))
  const restores = useRef(false)
  const discardedTo = useRef<Values>(undefined)

  useEffect(() => {
    const show = (next: object) => latest.current.show(next as Values)
    // Other fields may have been saved since.
    mounted.set(key, (typed) => {
      const { opened } = latest.current
      discardedTo.current = typed ? undefined : opened
      show(typed ? typedInto(opened, typed).values : opened)
    })
    const kept = unsaved.find((one) => one.key === key)
    if (kept) {
      const next = typedInto(latest.current.opened, kept)
      restores.current = !isSame(next.values, latest.current.opened)
      if (restores.current) show(next.values)
      if (next.isLost) set([...unsaved, { ...kept, key: `${key} lost`, changes: 0 }])
    }
    return () => void mounted.delete(key)
  }, [key])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the values are what was typed
  useEffect(() => {
    if (restores.current) {
      restores.current = false
      return
    }
    const { opened, values } = latest.current
    if (changed.length > 0) {
      const others = without(key)
      set([...others, { key, account, title, to, opened, values, changes: changed.length }])
    } else if (unsaved.some((one) => one.key === key)) set(without(key))
  }, [key, state])

  return {
    changes: changed.length,
    forget: () => set(without(key)),
    /** Called when a save is sent. Call what it returns when the save is done: what was typed since is a change of what is stored then. Returns what to show. */
    send: (sent: Values) => {
      discardedTo.current = undefined
      return (stored: Values): Values => {
        const kept = unsaved.find((one) => one.key === key)
        // Discarded while it was saved: what is stored is no change to discard any more.
        const before = discardedTo.current ?? sent
        const typed = kept?.values ?? discardedTo.current ?? latest.current.values
        const since = changedOf({ opened: before, values: typed }).map((name) => [name, typed[name]])
        const values = { ...stored, ...Object.fromEntries(since) }
        const changes = changedOf({ opened: stored, values }).length
        const next = { key, account, title, to, opened: stored, values, changes }
        set(changes > 0 ? [...without(key), next] : without(key))
        return values
      }
    },
  }
}
