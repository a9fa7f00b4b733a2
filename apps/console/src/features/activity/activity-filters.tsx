import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterDays, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { eventOptions } from './labels.ts'

type Values = Record<'app' | 'code' | 'from' | 'to' | 'search', string | undefined>

export interface ActivityFiltersProps {
  apps: { _id: string; name: string }[]
  app: { _id: string; name: string } | undefined
  values: Values
  onChange: (changes: Partial<Values>) => void
}

const findEvents = async (text: string) =>
  eventOptions.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))

export function ActivityFilters({ apps, app, values, onChange }: ActivityFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  return (
    <FilterBar values={values}>
      <FilterSearch
        value={values.search}
        onChange={(search) => onChange({ search })}
        label="Search events"
        placeholder="A user, key, address…"
      />
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
      <FilterSelect
        label="Events"
        unset="All events"
        options={eventOptions}
        find={findEvents}
        value={values.code}
        onChange={(code) => onChange({ code })}
      />
      <FilterDays values={values} onChange={onChange} />
    </FilterBar>
  )
}
