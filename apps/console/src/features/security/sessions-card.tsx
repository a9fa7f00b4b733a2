import type { AccountSession } from '@keyward/contract'
import { Monitor, Smartphone } from 'lucide-react'
import { useState } from 'react'
import type { Holder } from '../../lib/api/holders.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { describeAgent, isPhoneAgent } from './agent.ts'
import { useEndSession, useSessions } from './queries.ts'

const EndSessionsDialog = lazyNamed(() => import('./end-sessions-dialog.tsx'), 'EndSessionsDialog')

const shownAtFirst = 10

/** Where the account is signed in. */
export function SessionsCard({ holder }: { holder: Holder }) {
  const sessions = useSessions(holder)
  const [asking, setAsking] = useState(false)
  const [all, setAll] = useState(false)
  const data = sessions.data
  const shown = all ? data : data?.slice(0, shownAtFirst)
  const close = () => setAsking(false)
  return (
    <Card>
      <CardHeader
        title="Sessions"
        description="Where you are signed in. End those that you do not know, then change your password."
        actions={
          data &&
          data.length > 1 && (
            <Button size="sm" onClick={() => setAsking(true)}>
              End All Others
            </Button>
          )
        }
      />
      {sessions.isError && !data ? (
        <QueryError query={sessions} title="Failed to load your sessions" />
      ) : (
        <CardBody className="grid gap-2">
          <ul aria-label="Sessions" className="divide-y">
            {shown?.map((session) => <SessionRow key={session._id} holder={holder} session={session} />) ?? (
              <li className="py-2.5">
                <Skeleton className="h-11" />
              </li>
            )}
          </ul>
          {data && shown && shown.length < data.length && (
            <Button size="sm" variant="link" className="justify-self-start" onClick={() => setAll(true)}>
              Show All {data.length}
            </Button>
          )}
        </CardBody>
      )}
      {asking && (
        <Deferred onFail={close}>
          <EndSessionsDialog holder={holder} onClose={close} />
        </Deferred>
      )}
    </Card>
  )
}

function SessionRow({ holder, session }: { holder: Holder; session: AccountSession }) {
  const end = useEndSession(holder)
  const { agent, address, current, createdAt, lastUsedAt } = session
  const name = describeAgent(agent)
  const Icon = isPhoneAgent(agent) ? Smartphone : Monitor
  return (
    <li className="flex items-center gap-3 py-2.5">
      <Icon aria-hidden className="size-4 shrink-0 self-start text-fg-muted max-md:mt-0.5 md:mt-1" />
      <div className="grid min-w-0 flex-1 gap-0.5">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium" title={agent ?? undefined}>
          {name}
          {current && <Badge tone="accent">This device</Badge>}
        </p>
        <p className="wrap-anywhere text-[0.8125rem] text-fg-muted">
          {address ?? 'Unknown address'} · signed in <DateText value={createdAt} /> · last used{' '}
          <DateText value={lastUsedAt} />
        </p>
      </div>
      {!current && (
        <Button
          size="sm"
          variant="dangerQuiet"
          loading={end.isPending}
          onClick={() => end.mutate(session._id)}
          aria-label={`End the session of ${name}${address ? ` at ${address}` : ''}`}
        >
          End
        </Button>
      )}
    </li>
  )
}
