import type { App, ProgramHash } from '@keyward/contract'
import { type FormEvent, type ReactNode, useState } from 'react'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field } from '../../../ui/field.tsx'
import { ExactInput, Input } from '../../../ui/input.tsx'
import { Pagination } from '../../../ui/pagination.tsx'
import { Select } from '../../../ui/select.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QueryError } from '../../../ui/states.tsx'
import { useBlock, useBlocks, useHashes, useSetHashes, useUnblock } from './blocklist-queries.ts'

type Kind = 'hwid' | 'address'
const kinds: Record<Kind, string> = { hwid: 'Device', address: 'Address' }

/** Blocked devices and addresses, and the builds that may start. */
export function Blocklist({ app }: { app: App }) {
  return (
    <Card aria-label={`Blocking in ${app.name}`}>
      <CardHeader
        title={`Blocking in ${app.name}`}
        description="Programs on a blocked device or address are refused from their next call on, and an offline one when its lease or activation file ends."
      />
      <CardBody className="grid gap-6">
        <Blocks id={app._id} />
        <Hashes app={app} />
      </CardBody>
    </Card>
  )
}

function Blocks({ id }: { id: string }) {
  const [page, setPage] = useState(1)
  const blocks = useBlocks(id, page)
  const pages = blocks.data?.pagination.pages ?? page
  if (page > Math.max(1, pages)) setPage(Math.max(1, pages))
  const block = useBlock(id)
  const unblock = useUnblock()
  const [kind, setKind] = useState<Kind>('hwid')
  const [value, setValue] = useState('')
  const [reason, setReason] = useState('')

  function submit(event: FormEvent) {
    event.preventDefault()
    block.mutate(
      { kind, value, reason },
      {
        onSuccess: () => {
          setValue('')
          setReason('')
          setPage(1)
        },
      },
    )
  }

  return (
    <Section title="Blocked devices and addresses" query={blocks}>
      <May call={wire.blocklist.add}>
        <form onSubmit={submit} className="grid items-end gap-3 md:grid-cols-[8rem_1fr_1fr_auto]">
          <Field label="Block a">
            <Select
              value={kind}
              onChange={(chosen) => setKind(chosen as Kind)}
              options={Object.entries(kinds).map(([option, label]) => ({ value: option, label }))}
            />
          </Field>
          <Field label={kind === 'hwid' ? 'Hardware ID' : 'Address or network'}>
            <ExactInput
              value={value}
              onChange={(event) => setValue(event.target.value)}
              placeholder={kind === 'hwid' ? 'As your program sends it' : '203.0.113.0/24'}
            />
          </Field>
          <Field label="Reason" optional>
            <Input value={reason} maxLength={200} onChange={(event) => setReason(event.target.value)} />
          </Field>
          <Button type="submit" variant="danger" disabled={value.trim() === ''} loading={block.isPending}>
            Block
          </Button>
        </form>
      </May>
      {blocks.data?.blocks.length === 0 && <p className="text-fg-muted">Nothing is blocked.</p>}
      {blocks.data && blocks.data.blocks.length > 0 && (
        <ul aria-label="Blocked" className="min-w-0 divide-y rounded-lg border">
          {blocks.data.blocks.map((one) => (
            <li
              key={one._id}
              className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 p-3"
            >
              <div className="grid gap-1">
                <div className="flex flex-wrap items-center gap-2">
                  <Badge>{kinds[one.kind]}</Badge>
                  <span className="flex min-w-0 items-center gap-2">
                    <code className="wrap-anywhere min-w-0 text-[0.8125rem]">{one.value}</code>
                    <CopyButton text={one.value} label={`Copy ${one.value}`} />
                  </span>
                </div>
                {one.reason && <p className="wrap-anywhere text-[0.8125rem] text-fg-muted">{one.reason}</p>}
              </div>
              <May call={wire.blocklist.remove}>
                <Button
                  size="sm"
                  aria-label={`Unblock ${one.value}`}
                  disabled={unblock.isPending}
                  onClick={() => unblock.mutate(one._id)}
                >
                  Unblock
                </Button>
              </May>
            </li>
          ))}
        </ul>
      )}
      {blocks.data && blocks.data.pagination.pages > 1 && (
        <Pagination {...blocks.data.pagination} page={page} onPage={setPage} noun="entries" />
      )}
    </Section>
  )
}

function Hashes({ app }: { app: App }) {
  const hashes = useHashes(app._id)
  const set = useSetHashes(app._id)
  const [version, setVersion] = useState(app.version)
  const [hash, setHash] = useState('')
  const known = hashes.data ?? []

  function submit(event: FormEvent) {
    event.preventDefault()
    save([...known, { version, hash }], () => setHash(''))
  }
  const save = (hashes: ProgramHash[], onSuccess = () => {}) =>
    set.mutate({ hashes, seen: { hashes: known } }, { onSuccess })
  const withoutHash = (gone: ProgramHash) => known.filter((one) => one !== gone)

  return (
    <Section title="Allowed builds" query={hashes}>
      <p className="text-[0.8125rem] text-fg-muted">
        {app.settings.checkHash
          ? 'Only these versions with these hashes may start. An empty list lets every build start.'
          : 'Not checked yet: turn on Check the Build in App Settings.'}{' '}
        Get a hash with <code>sha256sum program</code>, on Windows with{' '}
        <code>certutil -hashfile program.exe SHA256</code>.
      </p>
      <May call={wire.blocklist.setHashes}>
        <form onSubmit={submit} className="grid items-end gap-3 md:grid-cols-[8rem_1fr_auto]">
          <Field label="Version">
            <Input value={version} maxLength={32} onChange={(event) => setVersion(event.target.value)} />
          </Field>
          <Field label="Hash">
            <ExactInput value={hash} onChange={(event) => setHash(event.target.value)} />
          </Field>
          <Button
            type="submit"
            disabled={hash.trim().length < 16 || version.trim() === ''}
            loading={set.isPending}
          >
            Allow
          </Button>
        </form>
      </May>
      {known.length > 0 && (
        <ul aria-label="Allowed builds" className="min-w-0 divide-y rounded-lg border">
          {known.map((one) => (
            <li key={`${one.version} ${one.hash}`} className="flex items-center gap-2 p-3">
              <Badge>v{one.version}</Badge>
              <code className="min-w-0 flex-1 truncate text-[0.8125rem]" title={one.hash}>
                {one.hash}
              </code>
              <May call={wire.blocklist.setHashes}>
                <Button
                  size="sm"
                  aria-label={`Remove ${one.version} ${one.hash.slice(0, 8)}`}
                  disabled={set.isPending}
                  onClick={() => save(withoutHash(one))}
                >
                  Remove
                </Button>
              </May>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

interface SectionProps {
  title: string
  query: {
    isPending: boolean
    isError: boolean
    isFetching: boolean
    refetch: () => unknown
    error: Error | null
  }
  children: ReactNode
}

function Section({ title, query, children }: SectionProps) {
  return (
    <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <h3 className="font-medium">{title}</h3>
      {query.isError ? (
        <QueryError boxed query={query} title="Failed to load this list" />
      ) : query.isPending ? (
        <Skeleton className="h-24" />
      ) : (
        children
      )}
    </section>
  )
}
