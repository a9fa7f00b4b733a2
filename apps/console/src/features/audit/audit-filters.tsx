import { useAppFilter } from '../../lib/api/apps.ts'
import { FilterBar, FilterDays, FilterSearch, FilterSelect } from '../../ui/filters.tsx'
import { actionOptions } from './labels.ts'

/** The list begins with what people did. */
export const people = 'people'
export const programs = 'programs'
export const everyone = 'all'

type Values = Record<'actor' | 'app' | 'action' | 'from' | 'to' | 'search', string | undefined>

export interface AuditFiltersProps {
  apps: { _id: string; name: string }[]
  app: { _id: string; name: string } | undefined
  values: Values
  onChange: (changes: Partial<Values>) => void
}

const whoOptions = [
  { value: people, label: 'People' },
  { value: programs, label: 'Programs' },
]

const findActions = async (text: string) =>
  actionOptions.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))

export function AuditFilters({ apps, app, values, onChange }: AuditFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  return (
    <FilterBar values={{ ...values, actor: values.actor !== people }}>
      <FilterSearch
        value={values.search}
        onChange={(search) => onChange({ search })}
        label="Search the audit log"
        placeholder="A name, key, address…"
      />
      <FilterSelect
        label="Who"
        unset="All"
        options={
          [people, programs, everyone].includes(values.actor ?? everyone)
            ? whoOptions
            : [...whoOptions, { value: values.actor ?? '', label: 'One actor' }]
        }
        value={values.actor}
        onChange={(actor = everyone) => onChange({ actor })}
      />
      <FilterSelect {...appFilter} value={values.app} onChange={(id) => onChange({ app: id })} />
      <FilterSelect
        label="Action"
        unset="All actions"
        options={actionOptions}
        find={findActions}
        value={values.action}
        onChange={(action) => onChange({ action })}
      />
      <FilterDays values={values} onChange={onChange} />
    </FilterBar>
  )
}
