import type { Release } from '@keyward/contract'
import { useState } from 'react'
import { Link } from 'react-router'
import { wire } from '../../lib/api/wire.ts'
import { amountOf } from '../../lib/format/words.ts'
import { customerPath } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { DateText } from '../../ui/date.tsx'
import { Dialog, DialogBody, DialogFooter } from '../../ui/dialog.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useExposedCustomers } from './exposure-queries.ts'

/** Who has devices with an affected version. */
export function ExposedCustomers({ release, onClose }: { release: Release; onClose: () => void }) {
  const [page, setPage] = useState(1)
  const list = useExposedCustomers(release._id, page)
  const { customers, pagination } = list.data ?? {}
  const saveCsv = async () =>
    (await import('../../ui/save-export.ts')).saveExport({
      endpoint: wire.exposure.exportCustomers,
      params: { id: release._id },
      query: { format: 'csv' },
      noun: 'customers',
      total: pagination?.total,
    })
  return (
    <Dialog
      title={`Customers whom ${release.version} repairs`}
      description="They have a device with an affected version."
      size="lg"
      onClose={onClose}
    >
      <DialogBody>
        {list.isError && !list.data && <QueryError query={list} title="Failed to load the customers" />}
        {list.isPending && <Skeleton className="h-40" />}
        {customers?.length === 0 && <p className="text-fg-muted">No customer has an affected device.</p>}
        {customers && customers.length > 0 && (
          <ul aria-label="Affected customers" className="min-w-0 divide-y rounded-lg border">
            {customers.map(({ _id, email, devices, lastSeenAt, toldAt }) => (
              <li key={_id} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 p-3">
                <Link to={customerPath(_id)} className="wrap-anywhere text-accent-text underline">
                  {email}
                </Link>
                <span className="ml-auto tabular-nums">{amountOf(devices, 'device')}</span>
                <span className="basis-full text-[0.8125rem] text-fg-muted">
                  Seen last <DateText value={lastSeenAt} />
                  {toldAt === null ? ', not mailed' : ', mailed '}
                  {toldAt !== null && <DateText value={toldAt} />}
                </span>
              </li>
            ))}
          </ul>
        )}
        {pagination && <Pagination {...pagination} noun="customers" onPage={setPage} />}
      </DialogBody>
      <DialogFooter>
        <Button disabled={!customers?.length} onClick={saveCsv}>
          Export CSV
        </Button>
        <Button onClick={onClose}>Close</Button>
      </DialogFooter>
    </Dialog>
  )
}
