import { type Attributes, type Child, h, newId } from './dom.ts'

export interface FieldOptions extends Attributes {
  label: string
  name: string
  hint?: string
  /** What the field says if the form is sent while it is empty. */
  required?: string
}

/** A rejected input: what the form says, and the field it is about. */
export class FormProblem extends Error {
  readonly field: string | undefined

  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

type Control = HTMLInputElement | HTMLTextAreaElement

export interface Field {
  control: Control
  element: HTMLElement
  required: string | undefined
  setError(message: string): void
}

/** A labeled input with its hint and its error. */
export function field(
  tag: 'input' | 'textarea',
  { label, name, hint, required, ...attributes }: FieldOptions,
): Field {
  const [id, hintId, errorId] = [newId(name), newId('hint'), newId('error')]
  const error = h('p', { id: errorId, class: 'error small', hidden: true })
  const control = h(tag, {
    id,
    name,
    'aria-describedby': hint ? `${hintId} ${errorId}` : errorId,
    autocapitalize: 'none',
    spellcheck: 'false',
    ...attributes,
  })
  const setError = (message: string) => {
    error.textContent = message
    error.hidden = message === ''
    control.setAttribute('aria-invalid', String(message !== ''))
  }
  control.addEventListener('input', () => setError(''))
  const element = h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    hint !== undefined && h('p', { id: hintId, class: 'muted small' }, hint),
    control,
    error,
  )
  return { control, element, required, setError }
}

interface FormOptions {
  fields: Field[]
  submit: string
  /** Elements between the fields and the button. */
  extra?: Child[]
  /** Rejects with a FormProblem to show it. */
  send: (values: Record<string, string>) => Promise<void>
  /** What other failures say. */
  explain: (error: unknown) => string
}

/** A form that checks what is required, sends once at a time, and shows each problem where it belongs. */
export function form({ fields, submit, extra = [], send, explain }: FormOptions) {
  const problem = h('p', { class: 'notice bad', role: 'alert' })
  const button = h('button', { type: 'submit', class: 'primary' }, submit)
  const show = (error: unknown) => {
    const message = error instanceof FormProblem ? error.message : explain(error)
    const about = error instanceof FormProblem && fields.find(({ control }) => control.name === error.field)
    if (!about) problem.textContent = message
    else {
      about.setError(message)
      about.control.focus()
    }
  }
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (button.getAttribute('aria-disabled') === 'true') return
    problem.textContent = ''
    const empty = fields.filter(({ control, required }) => required && control.value.trim() === '')
    for (const one of empty) one.setError(one.required ?? '')
    if (empty.length > 0) return empty[0]?.control.focus()
    button.setAttribute('aria-disabled', 'true')
    try {
      await send(Object.fromEntries(fields.map(({ control }) => [control.name, control.value])))
    } catch (error) {
      show(error)
    } finally {
      button.removeAttribute('aria-disabled')
    }
  }
  return h(
    'form',
    { novalidate: true, on: { submit: (event) => void onSubmit(event) } },
    ...fields.map(({ element }) => element),
    ...extra,
    problem,
    button,
  )
}
