import type { App, Compatibility } from '@keyward/contract'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { usePublicConfig } from '../../lib/api/public-config.ts'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { base } from '../../lib/navigation/base.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyField } from '../../ui/copy-button.tsx'
import { DateText } from '../../ui/date.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Callout, QueryError } from '../../ui/states.tsx'
import { useCompatibility } from './queries.ts'
import { linesToChange, oldSdks } from './sdk-lines.ts'

const CompatibilityDialog = lazyNamed(() => import('./compatibility-dialog.tsx'), 'CompatibilityDialog')

const calls = { compatibility: [wire.compatibility.get, wire.compatibility.update] }

/** How programs that were built with KeyAuth's libraries reach an app. */
export function CompatibilitySection({ app }: { app: App }) {
  const query = useCompatibility(app._id)
  const { kind, open, close, may } = useCallDialog(calls)
  const saved = query.data
  return (
    <Card aria-label="Programs built for KeyAuth">
      <CardHeader
        title="Programs built for KeyAuth"
        description="They run on this server once you change their address."
        actions={
          saved &&
          may('compatibility') && (
            <Button onClick={() => open('compatibility')}>
              {saved.name === null ? 'Set Up Compatibility' : 'Edit Compatibility'}
            </Button>
          )
        }
      />
      <CardBody className="grid gap-4">
        {query.isError && <QueryError boxed query={query} title="Failed to load the compatibility" />}
        {query.isPending && <Skeleton className="h-24" />}
        {saved && <State saved={saved} />}
        {saved?.enabled && saved.publicKey !== null && <Enabled saved={saved} publicKey={saved.publicKey} />}
      </CardBody>
      <DialogSlot>
        {kind === 'compatibility' && saved && <CompatibilityDialog app={app} saved={saved} onClose={close} />}
      </DialogSlot>
    </Card>
  )
}

function State({ saved }: { saved: Compatibility }) {
  const { enabled, programs, lastUsedAt } = saved
  const isUsed = enabled || programs > 0 || lastUsedAt !== null
  return (
    <>
      {enabled && (
        <Callout
          tone="warning"
          icon={<TriangleAlert aria-hidden />}
          title="Weaker than Keyward’s own protocol"
        >
          Its answers are not bound to a request. A program believes a fake server that knows the secret
          inside the program (1.0 to 1.2), or that repeats a recorded answer while the clock is turned back
          (1.3).
        </Callout>
      )}
      <Facts
        items={[
          {
            label: 'State',
            value: enabled ? <StateBadge tone="success" label="On" /> : <StateBadge label="Off" />,
          },
          ...(isUsed
            ? [
                { label: 'Programs in the last 30 days', value: formatNumber(programs) },
                { label: 'Last used', value: <DateText value={lastUsedAt} none="Never" /> },
              ]
            : []),
        ]}
      />
      <p className="text-[0.8125rem] text-fg-muted">
        <a href={paths.migrationDocs} target="_blank" rel="noopener" className="text-accent-text underline">
          How to move to Keyward, step by step
        </a>
      </p>
    </>
  )
}

function Enabled({ saved, publicKey }: { saved: Compatibility; publicKey: string }) {
  const baseUrl = usePublicConfig()?.publicUrl ?? `${window.location.origin}${base}`
  const { protocols, name, ownerId, secret } = saved
  const [sdkId, setSdkId] = useState<string>(oldSdks[0].id)
  const sdk = oldSdks.find(({ id }) => id === sdkId) ?? oldSdks[0]
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <CopyField label="Name" value={name} />
        <CopyField label="Owner ID" value={ownerId} />
      </div>
      <CopyField label="Secret" value={secret} secret />
      {protocols.includes('1.3') && <CopyField label="Public key" value={publicKey} />}
      <Field label="Library of the program">
        <Select
          value={sdk.id}
          options={oldSdks.map(({ id, label }) => ({ value: id, label }))}
          onChange={setSdkId}
        />
      </Field>
      <p className="text-fg-muted">
        {sdk.where} {sdk.demands}
      </p>
      <CodeBlock
        wrap
        title={`Lines to change in ${sdk.label}`}
        code={linesToChange(sdk, { protocols, publicKey, baseUrl })}
      />
    </>
  )
}
