import { ListFilter } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { Badge } from './badge.tsx'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { Input, SearchInput } from './input.tsx'
import { Select } from './select.tsx'
import type { SelectOption } from './select-props.ts'

export interface FilterBarProps {
  /** What narrows the list: phones have a button for all but the search, with their number. */
  values?: Record<string, unknown>
  children: ReactNode
}

/** A search field and selects above a list, the selects behind a button on phones. For the `actions` of a CardHeader. */
export function FilterBar({ values, children }: FilterBarProps) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const { search: _search, sort: _sort, ...narrowing } = values ?? {}
  const active = Object.values(narrowing).filter(Boolean).length
  return (
    <>
      {values && (
        <Button className="md:hidden" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <ListFilter aria-hidden />
          Filters
          {active > 0 && (
            <Badge tone="accent">
              {active} <span className="sr-only">active</span>
            </Badge>
          )}
        </Button>
      )}
      <div
        id={id}
        className={cx(
          'flex min-w-0 flex-wrap gap-2 max-md:order-last max-md:basis-full',
          !open && 'max-md:not-has-data-search:hidden max-md:[&>:not([data-search])]:hidden',
        )}
      >
        {children}
      </div>
    </>
  )
}

export interface FilterSearchProps {
  value: string | undefined
  onChange: (value: string | undefined) => void
  label: string
  placeholder: string
}

export function FilterSearch({ value = '', onChange, ...texts }: FilterSearchProps) {
  return (
    <SearchInput
      value={value}
      onSearch={(search) => onChange(search || undefined)}
      className="w-full md:min-w-56 md:max-w-72 md:flex-1"
      {...texts}
    />
  )
}

export interface FilterSelectProps {
  value: string | undefined
  onChange: (value: string | undefined) => void
  label: string
  /** The label while nothing is selected: 'All apps'. */
  unset: string
  options: SelectOption[]
  /** Searches all options, if there are more than `options`. */
  find?: ((text: string) => Promise<SelectOption[]>) | undefined
}

export function FilterSelect({ value, onChange, label, unset, options, find }: FilterSelectProps) {
  const all = 'all'
  return (
    <Select
      label={label}
      value={value ?? all}
      onChange={(chosen) => onChange(chosen === all ? undefined : chosen)}
      options={[{ value: all, label: unset }, ...options]}
      find={find}
      className="max-md:w-auto max-md:grow max-md:basis-[calc(50%-0.25rem)] md:w-36"
    />
  )
}

type Days = Record<'from' | 'to', string | undefined>

/** The first and the last day, as 'yyyy-mm-dd'. */
export function FilterDays({
  values,
  onChange,
}: {
  values: Days
  onChange: (changes: Partial<Days>) => void
}) {
  const id = useId()
  return (
    <div className="flex min-w-0 gap-2 max-md:basis-full">
      {(['from', 'to'] as const).map((end) => (
        <label
          key={end}
          htmlFor={`${id}-${end}`}
          className="flex items-center gap-2 text-[0.8125rem] text-fg-muted max-md:min-w-0 max-md:flex-1 max-md:flex-col max-md:items-stretch max-md:gap-1"
        >
          {end === 'from' ? 'From' : 'To'}
          <Input
            id={`${id}-${end}`}
            type="date"
            value={values[end] ?? ''}
            onChange={(event) => onChange({ [end]: event.target.value || undefined })}
            className="text-fg md:w-36"
          />
        </label>
      ))}
    </div>
  )
}
