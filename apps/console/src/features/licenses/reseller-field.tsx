import type { Reseller } from '@keyward/contract'
import { useOwner } from '../../lib/api/account.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { findSellers, useSellers } from './queries.ts'

const noReseller = 'none'
const none = { value: noReseller, label: 'No reseller' }

const toOption = ({ _id, email, remaining_licenses: left }: Reseller) => ({
  value: _id,
  label: `${email} (${formatNumber(left)} left)`,
})

export interface ResellerFieldProps {
  app: string
  value: string | undefined
  onChange: (reseller: string | undefined) => void
}

/** Chooses the reseller that gets the keys. Left out for an app without resellers. */
export function ResellerField({ app, value, onChange }: ResellerFieldProps) {
  const owner = useOwner().data
  const isOffered = useMay()(wire.resellers.list) && owner?.plan !== 'free'
  const sellers = useSellers(app, isOffered)
  if (!isOffered || !sellers || sellers.pagination.total === 0) return null
  const { resellers, pagination } = sellers
  return (
    <Field
      label="For reseller"
      optional
      hint={value && 'The keys count against the quota of the reseller and appear in its portal.'}
    >
      <Select
        value={value ?? noReseller}
        onChange={(chosen) => onChange(chosen === noReseller ? undefined : chosen)}
        options={[none, ...resellers.map(toOption)]}
        find={
          pagination.total > resellers.length
            ? async (search) => [none, ...(await findSellers(app, search)).map(toOption)]
            : undefined
        }
      />
    </Field>
  )
}
