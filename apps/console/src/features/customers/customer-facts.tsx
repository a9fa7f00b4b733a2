import type { Customer } from '@keyward/contract'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'

const none = <span className="font-normal text-fg-muted">—</span>

export function CustomerFacts({ customer }: { customer: Customer }) {
  return (
    <Card>
      <CardHeader title="Customer" />
      <CardBody className="grid gap-3">
        <CopyField label="Email" value={customer.email} />
        <Facts
          items={[
            { label: 'Name', value: customer.name ? <bdi>{customer.name}</bdi> : none },
            { label: 'Note', value: customer.note || none },
            { label: 'Licenses', value: formatNumber(customer.licenses) },
            { label: 'Orders', value: formatNumber(customer.orders) },
            { label: 'Added', value: <DateText value={customer.createdAt} /> },
          ]}
        />
      </CardBody>
    </Card>
  )
}
