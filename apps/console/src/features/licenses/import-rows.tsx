import type { ImportedRow } from '@keyward/contract'
import { useState } from 'react'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { DateText } from '../../ui/date.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { Select } from '../../ui/select.tsx'
import { type Column, Table } from '../../ui/table.tsx'

type Outcome = ImportedRow['outcome']
const pageSize = 50
const tones: Record<Outcome, Tone> = { created: 'success', skipped: 'neutral', error: 'danger' }

const labels = {
  check: { created: 'Will be created', skipped: 'Skipped', error: 'Mistake' },
  done: { created: 'Created', skipped: 'Skipped', error: 'Mistake' },
}

const columnsOf = (words: Record<Outcome, string>): Column<ImportedRow>[] => [
  {
    id: 'line',
    header: 'Line',
    phone: 'third',
    align: 'end',
    cell: ({ line }) => <span className="tabular-nums">{formatNumber(line)}</span>,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    phone: 'title',
    cell: ({ outcome, message }) => (
      <div className="grid justify-items-start gap-1">
        <Badge tone={tones[outcome]} dot>
          {words[outcome]}
        </Badge>
        {message && <span className="text-[0.8125rem] text-fg-muted">{message}</span>}
      </div>
    ),
  },
  {
    id: 'license',
    header: 'License',
    phone: 'whole',
    className: 'max-md:max-w-full',
    cell: ({ key, note, sold, outcome }) => (
      <div className="min-w-0 md:max-w-56">
        {key ? (
          <code className="font-mono text-[0.8125rem]" title={key}>
            {keyPrefix(key)}
          </code>
        ) : (
          <span className="text-fg-muted">{outcome === 'error' ? 'No key' : 'Random key'}</span>
        )}
        {outcome === 'created' && sold.banned?.toLowerCase() === 'true' && (
          <Badge tone="danger" className="ml-2">
            Banned
          </Badge>
        )}
        {note && (
          <span className="block truncate text-[0.8125rem] text-fg-muted" title={note}>
            {note}
          </span>
        )}
      </div>
    ),
  },
  {
    id: 'expires',
    header: 'Expires',
    phone: 'third',
    cell: ({ expiresAt, sold, outcome }) => (
      <DateText value={expiresAt} none={outcome === 'error' ? '—' : endText(sold)} />
    ),
  },
]

/** 'Never', or '30 days from first use'. */
function endText({ term, duration, type }: ImportedRow['sold']): string {
  if (duration && term !== 'date') return `${duration} from first use`
  return term === 'forever' ? 'Never' : `As ${type ?? 'its type'}`
}

export interface ImportRowsProps {
  rows: ImportedRow[]
  stage: keyof typeof labels
}

/** The outcome of each line. Shows only the errors at first, if there are any. */
export function ImportRows({ rows, stage }: ImportRowsProps) {
  const words = labels[stage]
  const [shown, setShown] = useState<Outcome | 'all'>(
    rows.some(({ outcome }) => outcome === 'error') ? 'error' : 'all',
  )
  const [page, setPage] = useState(1)
  const matching = shown === 'all' ? rows : rows.filter(({ outcome }) => outcome === shown)
  const count = (outcome: Outcome) => rows.filter((row) => row.outcome === outcome).length
  const outcomes = (['created', 'skipped', 'error'] as const).filter((outcome) => count(outcome) > 0)
  return (
    <div className="overflow-hidden rounded-lg border">
      <div className="px-3 py-2.5">
        <Select
          label="Rows"
          value={shown}
          onChange={(value) => {
            setShown(value as Outcome | 'all')
            setPage(1)
          }}
          options={[
            { value: 'all', label: `All rows (${formatNumber(rows.length)})` },
            ...outcomes.map((outcome) => ({
              value: outcome,
              label: `${words[outcome]} (${formatNumber(count(outcome))})`,
            })),
          ]}
          className="md:w-56"
        />
      </div>
      <Table
        caption="Rows of the file"
        columns={columnsOf(words)}
        rows={matching.slice((page - 1) * pageSize, page * pageSize)}
        rowKey={({ line }) => String(line)}
      />
      {matching.length > pageSize && (
        <Pagination page={page} limit={pageSize} total={matching.length} onPage={setPage} noun="rows" />
      )}
    </div>
  )
}
