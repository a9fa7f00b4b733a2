/** @jsxImportSource preact */
import {
  type ComponentChildren,
  createContext,
  type InputHTMLAttributes,
  type TargetedSubmitEvent,
} from 'preact'
import { useContext, useId, useLayoutEffect, useState } from 'preact/hooks'
import { CallError } from './calls.ts'
import { explain, useCustomer } from './context.tsx'

/** What is wrong, by the name of the field; without a name, with the whole form. */
export type Problems = { [name: string]: string | undefined }

/** What is wrong in the form, and what shows something else. */
export const ProblemsContext = createContext<[Problems, (problems: Problems) => void]>([{}, () => {}])

type Values = { [name: string]: string }

interface FormProps {
  children: ComponentChildren
  submit: string
  send: (values: Values, form: HTMLFormElement) => Promise<void>
  /** What an error of the server says about the values, if it is about them. */
  explained: (error: CallError, values: Values) => Problems | false
}

/** A form whose fields are all required. It sends once at a time, and shows each problem where it belongs. */
export function Form({ children, submit, send, explained }: FormProps) {
  const customer = useCustomer()
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is wrong was said in the language before
  useLayoutEffect(() => setProblems({}), [customer.language])
  const onSubmit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isBusy) return
    const form = event.currentTarget
    const fields = [...form.elements].filter((field) => 'name' in field && field.name) as HTMLInputElement[]
    const show = (found: Problems) => {
      setProblems(found)
      fields.find(({ name }) => found[name])?.focus()
    }
    const empty = fields.filter(({ value }) => value.trim() === '')
    show(Object.fromEntries(empty.map(({ name }) => [name, customer.texts.problems.required])))
    if (empty.length > 0) return
    setBusy(true)
    const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]))
    try {
      await send(values, form)
    } catch (error) {
      show((error instanceof CallError && explained(error, values)) || { '': explain(customer, error) })
    } finally {
      setBusy(false)
    }
  }
  return (
    <form noValidate onSubmit={onSubmit}>
      <ProblemsContext.Provider value={[problems, setProblems]}>{children}</ProblemsContext.Provider>
      <p class="notice bad" role="alert">
        {problems['']}
      </p>
      <button type="submit" class="primary" aria-disabled={isBusy || undefined}>
        {submit}
      </button>
    </form>
  )
}

type FieldProps = InputHTMLAttributes & { label: string; name: string; hint?: string; rows?: number }

/** A labeled input with its hint and its problem; with `rows`, one of several lines. */
export function Field({ label, hint, ...attributes }: FieldProps) {
  const [problems, show] = useContext(ProblemsContext)
  const id = useId()
  const problem = problems[attributes.name]
  const Control = (attributes.rows ? 'textarea' : 'input') as 'input'
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} class="muted small">
          {hint}
        </p>
      )}
      <Control
        {...attributes}
        id={id}
        aria-describedby={hint ? `${id}-hint ${id}-problem` : `${id}-problem`}
        aria-invalid={problem !== undefined}
        autocapitalize="none"
        spellcheck={false}
        onInput={() => show({ ...problems, [attributes.name]: undefined })}
      />
      <p id={`${id}-problem`} class="error small" hidden={problem === undefined}>
        {problem}
      </p>
    </div>
  )
}
