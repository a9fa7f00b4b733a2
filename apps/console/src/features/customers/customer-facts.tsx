import type { Customer } from '@keyward/contract'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useCustomerMailSwitch } from './queries.ts'

const none = <span className="font-normal text-fg-muted">—</span>

const wanted = 'Mails About Ends and Payments'

export function CustomerFacts({ customer }: { customer: Customer }) {
  const edit = useCustomerMailSwitch(customer._id)
  const mayEdit = useMay()(wire.customers.update)
  return (
    <Card>
      <CardHeader title="Customer" />
      <CardBody className="grid gap-3">
        <CopyField label="Email" value={customer.email} />
        <Facts
          items={[
            { label: 'Name', value: customer.name ? <bdi>{customer.name}</bdi> : none },
            { label: 'Note', value: customer.note || none },
            { label: 'Own Licenses', value: formatNumber(customer.licenses) },
            { label: 'Orders', value: formatNumber(customer.orders) },
            { label: 'Added', value: <DateText value={customer.createdAt} /> },
            ...(mayEdit ? [] : [{ label: wanted, value: customer.mails ? 'On' : 'Off' }]),
          ]}
        />
        {mayEdit && (
          <Switch
            label={wanted}
            description="The customer turns them off by a link in each of them. Keys, renewals and security updates are always mailed."
            checked={customer.mails}
            onChange={(mails) => edit.mutate({ mails })}
          />
        )}
      </CardBody>
    </Card>
  )
}
