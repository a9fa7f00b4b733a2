import type { App, LazyMove } from '@keyward/contract'
import { TriangleAlert } from 'lucide-react'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { TimeText } from '../../ui/date.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'
import { useLazyMove } from './queries.ts'

const LazyMoveDialog = lazyNamed(() => import('./lazy-move-dialog.tsx'), 'LazyMoveDialog')
const EndMoveDialog = lazyNamed(() => import('./end-move-dialog.tsx'), 'EndMoveDialog')

const write = [wire.lazyMove.get, wire.lazyMove.update]
const calls = { 'lazy-move': write, 'end-lazy-move': write }

/** From which old provider end users move at their next sign-in, how many have, and until when. */
export function LazyMoveSection({ app }: { app: App }) {
  const query = useLazyMove(app._id)
  const { kind, open, close, may } = useCallDialog(calls)
  const saved = query.data
  const state = saved && stateOf(saved)
  return (
    <Card aria-label="Move at the next sign-in">
      <CardHeader
        title="Move at the next sign-in"
        description="For customers that no import brought along."
        actions={
          saved &&
          may('lazy-move') && (
            <>
              {state === 'on' && (
                <Button variant="dangerQuiet" onClick={() => open('end-lazy-move')}>
                  End Move
                </Button>
              )}
              <Button onClick={() => open('lazy-move')}>
                {saved.url === null ? 'Set Up Move' : 'Edit Move'}
              </Button>
            </>
          )
        }
      />
      <CardBody className="grid gap-4">
        <p className="text-pretty text-fg-muted">
          When someone signs in with a name or key that this app never had, Keyward asks your old provider
          once. If it accepts the sign-in, name or key, password, device and time left are stored here, and
          the customer notices nothing. Names and keys that are here, or were deleted, are never asked for.
        </p>
        {query.isError && <QueryError boxed query={query} title="Failed to load the move" />}
        {query.isPending && <Skeleton className="h-24" />}
        {saved && state !== undefined && <State saved={saved} state={state} />}
      </CardBody>
      <DialogSlot>
        {kind === 'lazy-move' && saved && <LazyMoveDialog app={app} saved={saved} onClose={close} />}
        {kind === 'end-lazy-move' && saved && <EndMoveDialog appId={app._id} saved={saved} onClose={close} />}
      </DialogSlot>
    </Card>
  )
}

type MoveState = 'off' | 'on' | 'ended'

function stateOf({ until }: LazyMove): MoveState {
  if (until === null) return 'off'
  return Date.parse(until) > Date.now() ? 'on' : 'ended'
}

const badges = {
  off: <StateBadge label="Off" />,
  on: <StateBadge tone="success" label="On" />,
  ended: <StateBadge label="Ended" />,
}

function State({ saved, state }: { saved: LazyMove; state: MoveState }) {
  const { url, protocol, until, moved, failed, lastFailure, secret, publicKey } = saved
  const isVerified = secret !== null || publicKey !== null
  return (
    <>
      {state === 'on' && !isVerified && (
        <Callout
          tone="warning"
          icon={<TriangleAlert aria-hidden />}
          title="Answers of the old provider are not verified"
        >
          Only TLS protects them: whoever answers in its place can let anyone in. The secret verifies answers
          of 1.2, the public key those of 1.3.
        </Callout>
      )}
      <Facts
        items={[
          { label: 'State', value: badges[state] },
          ...(until === null
            ? []
            : [{ label: state === 'on' ? 'Ends' : 'Ended', value: <TimeText value={until} /> }]),
          ...(url === null
            ? []
            : [
                { label: 'Old provider', value: `${URL.parse(url)?.host ?? url}, protocol ${protocol}` },
                { label: 'Moved', value: formatNumber(moved) },
                { label: 'Failed', value: formatNumber(failed) },
              ]),
        ]}
      />
      {url !== null && (
        <p className="text-[0.8125rem] text-fg-muted">
          “Failed” counts each request after which nobody moved, also wrong passwords and guessed keys.
        </p>
      )}
      {lastFailure && (
        <Callout title="Why the last one failed">
          <span className="wrap-anywhere">{lastFailure.reason}</span> <TimeText value={lastFailure.at} />
        </Callout>
      )}
    </>
  )
}
