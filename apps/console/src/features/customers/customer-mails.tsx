import { type CustomerMail, limits } from '@keyward/contract'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { mailKindLabels, mailStates } from '../../lib/format/told-mails.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { EmptyLine } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useMailAgain } from './queries.ts'

const columns: Column<CustomerMail>[] = [
  {
    id: 'mail',
    header: 'Mail',
    phone: 'title',
    cell: ({ order, license, kind }) =>
      license && kind === 'purchase' ? (
        <span className="block truncate md:max-w-44" title={license.key}>
          Key {license.key}
        </span>
      ) : order === null ? (
        mailKindLabels[kind]
      ) : (
        <span className="block truncate md:max-w-44" title={order.order}>
          Keys of order <bdi>{order.order}</bdi>
        </span>
      ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <StateBadge {...mailStates[state]} />,
  },
  {
    id: 'date',
    header: 'Date',
    phone: 'whole',
    cell: ({ createdAt }) => <DateText value={createdAt} />,
  },
]

/** What was mailed to a customer lately, without its texts. */
export function CustomerMails({ mails }: { mails: CustomerMail[] }) {
  const may = useMay()
  const aboutOf = ({ order, license, kind }: CustomerMail) =>
    kind === 'purchase' ? (order?._id ?? license?._id) : undefined
  const newest = new Map(mails.toReversed().map((mail) => [aboutOf(mail), mail._id]))
  const isResent = (mail: CustomerMail) =>
    aboutOf(mail) !== undefined && mail.state !== 'queued' && newest.get(aboutOf(mail)) === mail._id
  const again: Column<CustomerMail> = {
    id: 'again',
    header: 'Mail Again',
    phone: 'whole',
    isEmpty: (mail) => !isResent(mail),
    cell: (mail) => isResent(mail) && <MailAgain mail={mail} />,
  }
  return (
    <Card className="overflow-clip">
      <CardHeader
        title="Mails"
        description={`Of the last ${limits.mailDays} days; notices about licenses of the last ${limits.customerMailDays}`}
      />
      <Table
        caption="Mails to the customer, newest first"
        columns={may(wire.orders.mail) && mails.some(isResent) ? [...columns, again] : columns}
        rows={mails}
        rowKey={({ _id }) => _id}
        empty={
          <EmptyLine title="No mails" description="Mails with keys and links to this customer appear here." />
        }
      />
    </Card>
  )
}

function MailAgain({ mail: { order, license } }: { mail: CustomerMail }) {
  const again = useMailAgain()
  return (
    <Button
      size="sm"
      aria-label={order ? `Mail Again: keys of order ${order.order}` : `Mail Again: key ${license?.key}`}
      loading={again.isPending}
      onClick={() => again.mutate({ order: order?._id, license: license?._id })}
    >
      Mail Again
    </Button>
  )
}
