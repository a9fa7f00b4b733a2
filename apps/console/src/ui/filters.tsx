import type { ReactNode } from 'react'
import { SearchInput } from './input.tsx'
import { Select } from './select.tsx'
import type { SelectOption } from './select-props.ts'

/** A search field and selects above a list. On phones the search has its own line and selects come in pairs. */
export function FilterBar({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap gap-2 max-md:w-full">{children}</div>
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
      className="w-full md:w-56"
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
