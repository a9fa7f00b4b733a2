import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { z } from 'zod'
import { ApiError } from '../api/call.ts'
import { isSame, type UnsavedOptions, useUnsaved } from './unsaved.ts'

type Errors<Values> = Partial<Record<keyof Values, string>>

export interface TextFormOptions<Values extends object>
  extends Pick<UnsavedOptions<Values>, 'title' | 'to' | 'opened'> {
  /** Loads what checks the values, when the form gets the focus: the schemas weigh as much as a page. */
  rules: () => Promise<(values: Values) => Errors<Values>>
}

/**
 * A form of a page whose fields are all texts. Like useSchemaForm it checks a field when it is left after input, and from then on with
 * every change, but without the form library. If the rules cannot be loaded, only the server checks.
 */
export function useTextForm<Values extends Record<string, string>>(options: TextFormOptions<Values>) {
  const [opened, setOpened] = useState(options.opened)
  const [values, setValues] = useState(opened)
  const [errors, setErrors] = useState<Errors<Values>>({})
  const current = useRef(values)
  const entered = useRef(new Set<keyof Values>())
  const checked = useRef(new Set<keyof Values>())
  const form = useRef<HTMLFormElement>(null)
  const focusesError = useRef(false)

  useEffect(() => {
    if (!focusesError.current) return
    focusesError.current = false
    const fields = [...(form.current?.elements ?? [])] as HTMLInputElement[]
    fields.find(({ name }) => errors[name])?.focus()
  }, [errors])

  const write = (next: Values) => {
    current.current = next
    setValues(next)
  }
  const { title, to } = options
  const unsaved = useUnsaved({ title, to, opened, values, show: write })
  const isDirty = Object.keys(opened).some((name) => values[name] !== opened[name])

  // biome-ignore lint/correctness/useExhaustiveDependencies: new stored values are shown as long as nothing is typed
  useEffect(() => {
    if (!isDirty && !isSame(options.opened, opened)) begin(options.opened, options.opened)
  }, [JSON.stringify(options.opened)])

  async function issuesIn(typed: Values): Promise<Errors<Values>> {
    try {
      return (await options.rules())(typed)
    } catch {
      return {}
    }
  }
  async function check(name: keyof Values) {
    checked.current.add(name)
    const seen = current.current
    const found = await issuesIn(seen)
    if (seen[name] === current.current[name]) setErrors((shown) => ({ ...shown, [name]: found[name] }))
  }
  function set(name: keyof Values, value: string) {
    entered.current.add(name)
    write({ ...current.current, [name]: value })
    if (checked.current.has(name)) void check(name)
  }
  function fail(found: Errors<Values>) {
    focusesError.current = true
    setErrors(found)
  }
  function showErrors(error: unknown) {
    if (!(error instanceof ApiError)) return
    const fields = error.fields.map(({ path, message }) => [path.split('.')[0] ?? '', message] as const)
    fail(Object.fromEntries(fields.filter(([name]) => name in opened)) as Errors<Values>)
  }
  function begin(stored: Values, shown: Values) {
    setOpened(stored)
    write(shown)
    setErrors({})
    entered.current.clear()
    checked.current.clear()
  }

  return {
    values,
    /** What the form opened with, or what was saved since. */
    opened,
    errors,
    isDirty,
    /** Changes a text that has no field, and checks it. */
    change: (name: keyof Values, value: string) => {
      checked.current.add(name)
      set(name, value)
    },
    field: (name: keyof Values & string) => ({
      name,
      value: values[name],
      onChange: ({ target }: { target: { value: string } }) => set(name, target.value),
      onBlur: () => {
        if (entered.current.has(name) || errors[name]) void check(name)
      },
    }),
    /** The attributes of the form. `send` returns what was saved; `onInvalid` runs if a rule rejects the values. */
    props: (send: (values: Values) => Promise<Values>, onInvalid?: () => void) => ({
      ref: form,
      noValidate: true,
      onFocus: () => void options.rules().catch(() => {}),
      onSubmit: async (event: FormEvent) => {
        event.preventDefault()
        const typed = current.current
        const found = await issuesIn(typed)
        for (const name of Object.keys(opened)) checked.current.add(name)
        fail(found)
        if (Object.keys(found).length > 0) onInvalid?.()
        else {
          const settle = unsaved.send(typed)
          await send(typed).then((saved) => begin(saved, settle(saved)), showErrors)
        }
      },
    }),
    /** Drops what was typed. */
    reset: (saved: Values = opened) => {
      unsaved.forget()
      begin(saved, saved)
    },
  }
}

/** The first issue of each part of a value. */
export function issuesOf(schema: z.ZodType, value: unknown): Record<string, string> {
  const issues = schema.safeParse(value).error?.issues ?? []
  return Object.fromEntries(issues.map(({ path, message }) => [String(path[0]), message]).reverse())
}
