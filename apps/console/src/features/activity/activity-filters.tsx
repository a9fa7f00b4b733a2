import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterDays, FilterSelect } from '../../ui/filters.tsx'
import { reasons } from './labels.ts'

type Values = Record<'app' | 'code' | 'from' | 'to', string | undefined>

export interface ActivityFiltersProps {
  apps: { _id: string; name: string }[]
  app: { _id: string; name: string } | undefined
  values: Values
  onChange: (changes: Partial<Values>) => void
}

export function ActivityFilters({ apps, app, values, onChange }: ActivityFiltersProps) {
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
      <FilterDays values={values} onChange={onChange} />
    </FilterBar>
  )
}
