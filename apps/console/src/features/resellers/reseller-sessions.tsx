import type { ResellerSession } from '@keyward/contract'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { TimeText } from '../../ui/date.tsx'

const shownMost = 10

export interface ResellerSessionsProps {
  /** Open ones, last used first. */
  sessions: readonly ResellerSession[]
  onEnd: () => void
}

/** Where a reseller is signed in. */
export function ResellerSessions({ sessions, onEnd }: ResellerSessionsProps) {
  const mayEnd = useMay()(wire.resellers.endSessions)
  const shown = sessions.slice(0, shownMost)
  return (
    <Card>
      <CardHeader
        title="Sessions"
        description="Where the reseller is signed in to the portal."
        actions={
          mayEnd &&
          sessions.length > 0 && (
            <Button size="sm" onClick={onEnd}>
              Sign Out Everywhere
            </Button>
          )
        }
      />
      <CardBody>
        {sessions.length === 0 ? (
          <p className="text-fg-muted">Not signed in anywhere.</p>
        ) : (
          <ul aria-label="Sessions" className="divide-y">
            {shown.map(({ _id, address, createdAt, lastUsedAt }) => (
              <li key={_id} className="grid gap-0.5 py-2.5 first:pt-0 last:pb-0">
                <p className="font-medium">
                  Last used <TimeText value={lastUsedAt} />
                </p>
                <p className="wrap-anywhere text-[0.8125rem] text-fg-muted">
                  {address && `${address} · `}signed in <TimeText value={createdAt} />
                </p>
              </li>
            ))}
          </ul>
        )}
        {sessions.length > shownMost && (
          <p className="pt-2.5 text-[0.8125rem] text-fg-muted">
            and {formatNumber(sessions.length - shownMost)} more
          </p>
        )}
      </CardBody>
    </Card>
  )
}
