import type { App, SigningKey } from '@keyward/contract'
import { useState } from 'react'
import { May, useMay } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { DateText } from '../../../ui/date.tsx'
import { LateConfirmDialog } from '../../../ui/late-confirm-dialog.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { useAllSigningKeys, useChangeSigningKeys } from './signing-keys-queries.ts'

const tones: Record<SigningKey['status'], Tone> = {
  next: 'accent',
  current: 'success',
  retired: 'neutral',
  revoked: 'danger',
}

/** What to do now, for each state of a rotation. */
function advice(keys: readonly SigningKey[]): string {
  const has = (status: SigningKey['status']) => keys.some((key) => key.status === status)
  if (has('next')) {
    return 'Ship a version of your program that pins the next key beside the current one: its Integration snippet contains both. Then promote the next key.'
  }
  if (has('retired')) {
    return 'Programs that pin only the retired key still work. Revoke it when none of them is in use any more, or at once if it has leaked.'
  }
  return 'To replace the key, make the next one. Programs in use notice nothing until you revoke the key that they pin.'
}

/** Guides through the rotation of an app's signing key. */
export function SigningKeys({ app }: { app: App }) {
  const keys = useAllSigningKeys(app._id)
  const change = useChangeSigningKeys(app._id)
  const may = useMay()
  const [revoking, setRevoking] = useState<SigningKey>()
  const hasNext = keys.data?.some(({ status }) => status === 'next')
  return (
    <Card aria-label={`Signing keys of ${app.name}`}>
      <CardHeader
        title={`Signing keys of ${app.name}`}
        description="Every response to your program is signed. A program accepts only the keys that it pins."
        actions={
          <May call={wire.signingKeys.create}>
            <Button
              disabled={change.isPending || hasNext !== false}
              onClick={() => change.mutate({ act: 'create' })}
            >
              Make the Next Key
            </Button>
          </May>
        }
      />
      <CardBody className="grid gap-4">
        {keys.isError && <QueryError boxed query={keys} title="Failed to load the signing keys" />}
        {keys.isPending && <Skeleton className="h-40" />}
        {keys.data && (
          <>
            {may(wire.signingKeys.create) && <p className="text-fg-muted">{advice(keys.data)}</p>}
            <ul aria-label="Signing keys" className="min-w-0 divide-y rounded-lg border">
              {keys.data.map((key) => (
                <li key={key.kid} className="grid grid-cols-[minmax(0,1fr)] gap-2 p-3">
                  <div className="flex flex-wrap items-center gap-2">
                    <Badge tone={tones[key.status]}>{key.status}</Badge>
                    <span className="text-[0.8125rem] text-fg-muted">
                      Made <DateText value={key.createdAt} />
                    </span>
                    <span className="ml-auto flex gap-2">
                      {may(wire.signingKeys.promote) && key.status === 'next' && (
                        <Button
                          size="sm"
                          disabled={change.isPending}
                          onClick={() => change.mutate({ act: 'promote', kid: key.kid })}
                        >
                          Promote
                        </Button>
                      )}
                      {may(wire.signingKeys.revoke) &&
                        (key.status === 'next' || key.status === 'retired') && (
                          <Button
                            size="sm"
                            variant="ghost"
                            disabled={change.isPending}
                            onClick={() => setRevoking(key)}
                          >
                            Revoke
                          </Button>
                        )}
                    </span>
                  </div>
                  <div className="flex items-center gap-1">
                    <code className="min-w-0 flex-1 truncate text-[0.8125rem]" title={key.kid}>
                      {key.kid}
                    </code>
                    <CopyButton text={toJwk(key)} label={`Copy the ${key.status} public key`} />
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
      </CardBody>
      {revoking && (
        <LateConfirmDialog
          title="Revoke this key?"
          description={`The server stops signing with the ${revoking.status} key at once. This cannot be undone.`}
          loss="Every program that pins this key and no other one stops working until its user installs a newer version."
          confirmLabel="Revoke"
          busy={change.isPending}
          onConfirm={() =>
            change.mutate({ act: 'revoke', kid: revoking.kid }, { onSuccess: () => setRevoking(undefined) })
          }
          onClose={() => setRevoking(undefined)}
        />
      )}
    </Card>
  )
}

function toJwk({ kty, crv, x, kid, alg, use }: SigningKey): string {
  return JSON.stringify({ kty, crv, x, kid, alg, use })
}
