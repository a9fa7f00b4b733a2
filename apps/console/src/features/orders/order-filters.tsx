import { orderStates } from '@keyward/contract'
import { useAppFilter } from '../../lib/api/apps.ts'
import { useShops } from '../../lib/api/shops.ts'
import { orderStateFacts } from '../../lib/format/order-state.ts'
import { FilterBar, FilterSearch, FilterSelect } from '../../ui/filters.tsx'

type Values = Record<'app' | 'shop' | 'state' | 'search', string | undefined>

export interface OrderFiltersProps {
  apps: { _id: string; name: string }[]
  app: { _id: string; name: string } | undefined
  /** Whether the reader may list the shops of an app. */
  mayListShops: boolean
  values: Values
  onChange: (changes: Partial<Values>) => void
}

const states = orderStates.map((state) => ({ value: state, label: orderStateFacts[state].label }))

export const toState = (text: string | undefined) => orderStates.find((state) => state === text)

export function OrderFilters({ apps, app, mayListShops, values, onChange }: OrderFiltersProps) {
  const appFilter = useAppFilter(apps, app)
  const shops = useShops(mayListShops ? app?._id : undefined).data ?? []
  const listed = shops.map(({ _id, name }) => ({ value: _id, label: name }))
  // A deleted shop is not listed, but its orders are.
  const options =
    values.shop && !listed.some(({ value }) => value === values.shop)
      ? [...listed, { value: values.shop, label: 'One shop' }]
      : listed
  return (
    <FilterBar values={values}>
      <FilterSearch
        value={values.search}
        onChange={(search) => onChange({ search })}
        label="Search orders"
        placeholder="A number or address…"
      />
      <FilterSelect
        {...appFilter}
        value={values.app}
        onChange={(id) => onChange({ app: id, shop: undefined })}
      />
      {options.length > 0 && (
        <FilterSelect
          label="Shop"
          unset="All shops"
          options={options}
          value={values.shop}
          onChange={(shop) => onChange({ shop })}
        />
      )}
      <FilterSelect
        label="State"
        unset="All states"
        options={states}
        value={values.state}
        onChange={(state) => onChange({ state })}
      />
    </FilterBar>
  )
}
