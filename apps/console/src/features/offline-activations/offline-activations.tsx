import type { OfflineActivation, OfflineActivationStatus } from '@keyward/contract'
import { PlugZap } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { userPath } from '../../lib/navigation/paths.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred, DialogSlot } from '../../ui/deferred.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import type { MachineOwner } from './activate-dialog.tsx'
import { useOfflineActivations } from './queries.ts'

const ActivateDialog = lazyNamed(() => import('./activate-dialog.tsx'), 'ActivateDialog')
const Pagination = lazyNamed(() => import('../../ui/pagination.tsx'), 'Pagination')
const DeactivateDialog = lazyNamed(() => import('./deactivate-dialog.tsx'), 'DeactivateDialog')

const dialogs = {
  'activate-offline': [wire.offlineActivations.activate],
  'deactivate-offline': [wire.offlineActivations.deactivate],
}

const statusFacts: Record<OfflineActivationStatus, { label: string; tone: Tone }> = {
  active: { label: 'Active', tone: 'success' },
  ended: { label: 'Ended', tone: 'neutral' },
  replaced: { label: 'Replaced', tone: 'neutral' },
  freed: { label: 'Device freed', tone: 'warning' },
  deactivated: { label: 'Deactivated', tone: 'neutral' },
}

/** The machines that are never online, with dialogs to activate and deactivate one. */
export function OfflineActivations({ app, user }: MachineOwner) {
  const [page, setPage] = useState(1)
  const query = useOfflineActivations(app._id, user?._id, page)
  const dialog = useCallDialog(dialogs)
  const { data } = query
  return (
    <Card>
      <CardHeader
        title="Machines that are never online"
        description={
          dialog.may('activate-offline')
            ? 'Your program shows a request there. Activate it here and return the file.'
            : 'They run with a file that was made here.'
        }
        actions={
          <div className="flex flex-wrap gap-2">
            {dialog.may('activate-offline') && (
              <Button size="sm" onClick={() => dialog.open('activate-offline')}>
                Activate Offline
              </Button>
            )}
            {dialog.may('deactivate-offline') && (
              <Button size="sm" onClick={() => dialog.open('deactivate-offline')}>
                Deactivate with Code
              </Button>
            )}
          </div>
        }
      />
      {query.isPending && <Skeleton className="mx-5 mb-5 h-14" />}
      {query.isError && !data && (
        <QueryError query={query} className="border-t py-8" title="Failed to load the offline activations" />
      )}
      {data?.activations.length === 0 && (
        <p className="border-t px-4 py-4 text-fg-muted md:px-5">No offline activations yet.</p>
      )}
      {data && data.activations.length > 0 && (
        <>
          <ul aria-label="Offline activations" className="divide-y border-t">
            {data.activations.map((one) => (
              <Row key={one._id} activation={one} showUser={user === undefined} />
            ))}
          </ul>
          {data.pagination.pages > 1 && (
            <Deferred fallback={<div className="h-13 border-t" />}>
              <Pagination {...data.pagination} page={page} onPage={setPage} noun="activations" />
            </Deferred>
          )}
        </>
      )}
      <DialogSlot>
        {dialog.kind === 'activate-offline' && (
          <ActivateDialog app={app} user={user} onClose={dialog.close} />
        )}
        {dialog.kind === 'deactivate-offline' && <DeactivateDialog app={app} onClose={dialog.close} />}
      </DialogSlot>
    </Card>
  )
}

function Row({ activation, showUser }: { activation: OfflineActivation; showUser: boolean }) {
  const { client, device, hwidHash, status, until, createdAt } = activation
  const { label, tone } = statusFacts[status]
  const runs = status === 'active' || status === 'freed' || status === 'replaced'
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 md:px-5">
      <PlugZap aria-hidden className="size-4 text-fg-muted" />
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere font-medium">
          {showUser ? (
            <Link to={userPath(client._id)} className="rounded-sm underline-offset-4 hover:underline">
              <bdi>{client.name ?? 'Unnamed'}</bdi>
            </Link>
          ) : (
            <bdi>{device?.name ?? `Machine ${hwidHash.slice(0, 8)}`}</bdi>
          )}
        </p>
        <p className="text-[0.8125rem] text-fg-muted">
          Made <DateText value={createdAt} /> ·{' '}
          {status === 'deactivated' ? (
            'the program has forgotten its file'
          ) : (
            <>
              {runs ? 'the file runs until ' : 'the file ended '}
              <DateText value={until} none="it is deactivated: it never ends" />
            </>
          )}
        </p>
      </div>
      <Badge tone={tone}>{label}</Badge>
    </li>
  )
}
