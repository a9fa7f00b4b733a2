import { useId } from 'react'
import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterSelect } from '../../ui/filters.tsx'
import { Input } from '../../ui/input.tsx'
import { reasons } from './labels.ts'

type Values = Record<'app' | 'code' | 'from' | 'to', string | undefined>

export interface ActivityFiltersProps {
  apps: { _id: string; name: string }[]
  app: { _id: string; name: string } | undefined
  values: Values
  onChange: (changes: Partial<Values>) => void
}

export function ActivityFilters({ apps, app, values, onChange }: ActivityFiltersProps) {
  const id = useId()
  const appFilter = useAppFilter(apps, app)
  return (
    <FilterBar active={Object.values(values).filter(Boolean).length}>
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
      <FilterSelect
        label="Events"
        unset="All events"
        options={[
          { value: 'any', label: 'All refusals' },
          ...Object.entries(reasons).map(([value, label]) => ({ value, label })),
        ]}
        value={values.code}
        onChange={(code) => onChange({ code })}
      />
      {(['from', 'to'] as const).map((end) => (
        <label
          key={end}
          htmlFor={`${id}-${end}`}
          className="flex items-center gap-2 text-[0.8125rem] text-fg-muted max-md:grow max-md:basis-[calc(50%-0.25rem)] max-md:flex-col max-md:items-stretch max-md:gap-1"
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
    </FilterBar>
  )
}
