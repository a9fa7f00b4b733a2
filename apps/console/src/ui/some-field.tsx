import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from './button.tsx'
import { Choice } from './choice.tsx'
import { Field } from './field.tsx'
import { Select } from './select.tsx'
import type { SelectOption, SelectProps } from './select-props.ts'

export interface SomeFieldProps extends Pick<SelectProps, 'options' | 'find'> {
  label: string
  /** The words for all, for some, and for adding one of them. */
  words: Record<'all' | 'some' | 'add', string>
  /** The chosen options, null for all, or undefined before either is chosen. */
  value: readonly string[] | null | undefined
  onChange: (value: string[] | null) => void
  max: number
  /** False if the user may choose only some; true by default. */
  mayAll?: boolean
  hint?: ReactNode
  error: string | undefined
}

/** All, or a list of some. */
export function SomeField(props: SomeFieldProps) {
  const { label, words, options, find, value, onChange, max, mayAll = true, hint, error } = props
  // What a search found is not among the options.
  const [found, setFound] = useState<SelectOption[]>([])
  const chosen = value ?? []
  const isOpen = (option: SelectOption) => !chosen.includes(option.value)
  const open = options.filter(isOpen)
  const search =
    find &&
    (async (text: string) => {
      const all = await find(text)
      setFound((known) => [...known, ...all])
      return all.filter(isOpen)
    })
  return (
    <div className="grid gap-3">
      <div className="grid gap-1.5">
        <p aria-hidden className="font-medium">
          {label}
        </p>
        {(mayAll || !value) && (
          <Choice
            label={label}
            value={value === undefined ? undefined : value === null ? 'all' : 'some'}
            onChange={(next) => onChange(next === 'all' ? null : [])}
            options={[
              { value: 'all', label: words.all },
              { value: 'some', label: words.some },
            ]}
          />
        )}
        {value === undefined && error && (
          <p role="alert" className="text-[0.8125rem] text-danger-text">
            {error}
          </p>
        )}
      </div>
      {value && (
        <>
          {chosen.length > 0 && (
            <ul
              aria-label={`Chosen ${label.toLowerCase()}`}
              className="max-h-44 divide-y overflow-y-auto rounded-lg border"
            >
              {chosen.map((one) => {
                const name = [...options, ...found].find((option) => option.value === one)?.label ?? one
                return (
                  <li key={one} className="flex items-center gap-2 py-1 pr-1 pl-3">
                    <span className="min-w-0 flex-1 truncate" title={name}>
                      {name}
                    </span>
                    <IconButton
                      label={`Remove ${name}`}
                      onClick={() => onChange(chosen.filter((other) => other !== one))}
                    >
                      <X />
                    </IconButton>
                  </li>
                )
              })}
            </ul>
          )}
          <Field label={words.add} hint={hint} error={error}>
            <Select
              value={undefined}
              placeholder={open.length > 0 || find ? 'Choose' : 'All are chosen'}
              disabled={(open.length === 0 && !find) || chosen.length >= max}
              options={open}
              find={search}
              onChange={(one) => onChange([...chosen, one])}
            />
          </Field>
        </>
      )}
    </div>
  )
}
