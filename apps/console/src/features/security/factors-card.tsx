import type { DataOf, Passkey } from '@keyward/contract'
import { Fingerprint, LifeBuoy, Smartphone } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Holder } from '../../lib/api/holders.ts'
import type { wire } from '../../lib/api/wire.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { DateText } from '../../ui/date.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { QueryError } from '../../ui/states.tsx'
import { passkeysWork } from './passkeys.ts'
import { useBeginTotp, useFactors } from './queries.ts'

const TotpDialog = lazyNamed(() => import('./totp-dialog.tsx'), 'TotpDialog')
const RemoveTotpDialog = lazyNamed(() => import('./remove-totp-dialog.tsx'), 'RemoveTotpDialog')
const AddPasskeyDialog = lazyNamed(() => import('./add-passkey-dialog.tsx'), 'AddPasskeyDialog')
const RemovePasskeyDialog = lazyNamed(() => import('./remove-passkey-dialog.tsx'), 'RemovePasskeyDialog')

type Factors = NonNullable<ReturnType<typeof useFactors>['data']>
type Open =
  | { kind: 'totp'; app: DataOf<NonNullable<(typeof wire.secondFactor.beginTotp)['endpoint']>> }
  | { kind: 'remove-totp' }
  | { kind: 'add-passkey' }
  | { kind: 'remove-passkey'; passkey: Passkey }

export interface FactorsCardProps {
  holder: Holder
  /** Gets new recovery codes. */
  onCodes: (codes: string[] | null) => void
}

export function FactorsCard({ holder, onCodes }: FactorsCardProps) {
  const factors = useFactors(holder)
  const begin = useBeginTotp(holder)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const done = (codes: string[] | null) => {
    close()
    onCodes(codes)
  }
  const data = factors.data
  return (
    <Card>
      <CardHeader
        title="Second factor"
        description="A second step at sign-in protects your account even from someone who knows your password."
      />
      {factors.isError && !data ? (
        <QueryError query={factors} title="Failed to load your second factors" />
      ) : (
        <CardBody className="grid gap-5">
          {data ? (
            <>
              <AppRow
                on={data.totp}
                busy={begin.isPending}
                onSetUp={() =>
                  begin.mutate(undefined, { onSuccess: (app) => setOpen({ kind: 'totp', app }) })
                }
                onTurnOff={() => setOpen({ kind: 'remove-totp' })}
              />
              <PasskeyRows
                passkeys={data.passkeys}
                onAdd={() => setOpen({ kind: 'add-passkey' })}
                onRemove={(passkey) => setOpen({ kind: 'remove-passkey', passkey })}
              />
              <RecoveryRow factors={data} />
            </>
          ) : (
            <>
              <Skeleton className="h-11" />
              <Skeleton className="h-11" />
              <Skeleton className="h-11" />
            </>
          )}
        </CardBody>
      )}
      {open && data && (
        <Deferred onFail={close}>
          {open.kind === 'totp' && (
            <TotpDialog holder={holder} app={open.app} onDone={done} onClose={close} />
          )}
          {open.kind === 'remove-totp' && (
            <RemoveTotpDialog holder={holder} keepsFactor={data.passkeys.length > 0} onClose={close} />
          )}
          {open.kind === 'add-passkey' && <AddPasskeyDialog holder={holder} onDone={done} onClose={close} />}
          {open.kind === 'remove-passkey' && (
            <RemovePasskeyDialog
              holder={holder}
              passkey={open.passkey}
              keepsFactor={data.totp || data.passkeys.length > 1}
              onClose={close}
            />
          )}
        </Deferred>
      )}
    </Card>
  )
}

interface RowProps {
  icon: ReactNode
  title: ReactNode
  badge?: ReactNode
  note: ReactNode
  action?: ReactNode
  children?: ReactNode
}

function Row({ icon, title, badge, note, action, children }: RowProps) {
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-3 [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:text-fg-muted">
      {icon}
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <div className="grid min-w-0 flex-1 basis-56 gap-0.5">
          <h3 className="flex flex-wrap items-center gap-2 font-medium">
            {title}
            {badge}
          </h3>
          <p className="text-[0.8125rem] text-fg-muted">{note}</p>
        </div>
        {action}
      </div>
      {children && <div className="col-start-2">{children}</div>}
    </div>
  )
}

const on = <StateBadge tone="success" label="On" />

interface AppRowProps {
  on: boolean
  busy: boolean
  onSetUp: () => void
  onTurnOff: () => void
}

const AppRow = ({ on: isOn, busy, onSetUp, onTurnOff }: AppRowProps) => (
  <Row
    icon={<Smartphone aria-hidden />}
    title="Authenticator app"
    badge={isOn && on}
    note="An app on your phone shows a new code every 30 seconds."
    action={
      isOn ? (
        <Button size="sm" onClick={onTurnOff} aria-label="Turn off the authenticator app">
          Turn Off
        </Button>
      ) : (
        <Button size="sm" onClick={onSetUp} loading={busy} aria-label="Set up an authenticator app">
          Set Up
        </Button>
      )
    }
  />
)

interface PasskeyRowsProps {
  passkeys: Passkey[]
  onAdd: () => void
  onRemove: (passkey: Passkey) => void
}

function PasskeyRows({ passkeys, onAdd, onRemove }: PasskeyRowsProps) {
  const works = passkeysWork()
  return (
    <Row
      icon={<Fingerprint aria-hidden />}
      title="Passkeys"
      badge={passkeys.length > 0 && on}
      note={
        works
          ? 'A fingerprint, face, PIN or security key. A passkey also signs you in without a password.'
          : 'Your browser can use passkeys only over https and at a host name.'
      }
      action={
        works && (
          <Button size="sm" onClick={onAdd} aria-label="Add a passkey">
            Add
          </Button>
        )
      }
    >
      {passkeys.length > 0 && (
        <ul aria-label="Passkeys" className="divide-y rounded-lg border">
          {passkeys.map((passkey) => (
            <li key={passkey._id} className="flex items-center justify-between gap-4 py-2 pr-2 pl-3">
              <div className="grid min-w-0">
                <span className="truncate font-medium" title={passkey.name}>
                  {passkey.name}
                </span>
                <span className="text-[0.8125rem] text-fg-muted">
                  Added <DateText value={passkey.createdAt} /> ·{' '}
                  {passkey.lastUsedAt ? (
                    <>
                      last used <DateText value={passkey.lastUsedAt} />
                    </>
                  ) : (
                    'not used yet'
                  )}
                </span>
              </div>
              <Button
                size="sm"
                variant="dangerQuiet"
                onClick={() => onRemove(passkey)}
                aria-label={`Remove the passkey ${passkey.name}`}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Row>
  )
}

function RecoveryRow({ factors }: { factors: Factors }) {
  const { totp, passkeys, recoveryCodes: left } = factors
  if (!totp && passkeys.length === 0) return null
  const renew = totp
    ? 'To get new ones, turn the authenticator app off and set it up again.'
    : 'To get new ones, set up an authenticator app.'
  return (
    <Row
      icon={<LifeBuoy aria-hidden />}
      title="Recovery codes"
      badge={<Badge tone={left > 2 ? 'neutral' : 'warning'}>{left} left</Badge>}
      note={`Each one signs you in once if you lose your phone or passkey. ${renew}`}
    />
  )
}
