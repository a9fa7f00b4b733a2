import type { User, Vendor } from '@keyward/contract'
import { Suspense, useState } from 'react'
import { roleFacts } from '../../lib/format/roles.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { useVendors } from './queries.ts'

const dialogs = () => import('./account-dialogs.tsx')
const LeaveDialog = lazyNamed(dialogs, 'LeaveDialog')
const DeleteAccountDialog = lazyNamed(dialogs, 'DeleteAccountDialog')

/** The vendor accounts of a person, which it can leave, and the end of its own account. */
export function VendorList({ user }: { user: User }) {
  const vendors = useVendors()
  const [leaving, setLeaving] = useState<Vendor>()
  const [deleting, setDeleting] = useState(false)
  return (
    <Card>
      <CardHeader title="Your Accounts" description="What you own, and the teams you work in." />
      {vendors.isError && !vendors.data && (
        <QueryError query={vendors} title="Failed to load your accounts" className="border-t py-8" />
      )}
      {vendors.isPending && <Skeleton className="mx-5 mb-5 h-10" />}
      {vendors.data && (
        <ul aria-label="Your Accounts" className="divide-y border-t">
          {vendors.data.map((vendor) => (
            <li key={vendor._id} className="flex min-h-12 flex-wrap items-center gap-3 px-4 py-2 md:px-5">
              <span className="wrap-anywhere min-w-0 flex-1 font-medium">{vendor.name}</span>
              {vendor.current && <Badge tone="success">Open now</Badge>}
              <Badge>{roleFacts[vendor.role].label}</Badge>
              {vendor.role !== 'owner' && vendors.data.length > 1 && (
                <Button size="sm" aria-label={`Leave ${vendor.name}`} onClick={() => setLeaving(vendor)}>
                  Leave
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <CardBody className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-t pt-4">
        <p className="flex-1 basis-64 text-[0.8125rem] text-fg-muted">
          Deleting your account ends your access everywhere. You can do so once the account that you own has
          no apps.
        </p>
        <Button variant="dangerGhost" onClick={() => setDeleting(true)}>
          Delete Account
        </Button>
      </CardBody>
      <Suspense fallback={null}>
        {leaving && <LeaveDialog vendor={leaving} onClose={() => setLeaving(undefined)} />}
        {deleting && (
          <DeleteAccountDialog user={user} vendors={vendors.data ?? []} onClose={() => setDeleting(false)} />
        )}
      </Suspense>
    </Card>
  )
}
