import type { DataOf, endpoints, Import, ImportOutcome, ImportReportRow } from '@keyward/contract'
import { Download } from 'lucide-react'
import { Link } from 'react-router'
import { wire } from '../../lib/api/wire.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { licensePath, userPath } from '../../lib/navigation/paths.ts'
import { StateBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { FilterBar, FilterSelect } from '../../ui/filters.tsx'
import { Pagination } from '../../ui/pagination.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { rowsPerPage } from './queries.ts'
import { outcomeFacts, outcomes } from './words.ts'

const columnsOf = (expected: boolean): Column<ImportReportRow>[] => [
  {
    id: 'name',
    header: 'Key or username',
    phone: 'title',
    cell: (row) => <RowName row={row} />,
  },
  {
    id: 'outcome',
    header: expected ? 'What would happen' : 'Outcome',
    phone: 'aside',
    cell: ({ outcome }) => {
      const { label, expected: words, tone } = outcomeFacts[outcome]
      return <StateBadge tone={tone} label={expected ? words : label} />
    },
  },
  {
    id: 'message',
    header: 'Why',
    phone: 'whole',
    joint: '',
    cell: ({ message }) => (message ? <span className="wrap-anywhere text-fg-muted">{message}</span> : null),
    isEmpty: ({ message }) => message === null,
  },
  {
    id: 'place',
    header: 'File',
    phone: 'third',
    cell: ({ file, line }) => (
      <span className="wrap-anywhere text-fg-muted">
        {file}, {formatNumber(line)}
      </span>
    ),
  },
]

function RowName({ row: { name, kind, licenseId, clientId } }: { row: ImportReportRow }) {
  const to = clientId ? userPath(clientId) : licenseId ? licensePath(licenseId) : undefined
  const text = name === '' ? '—' : name
  return (
    <div className="min-w-0">
      {to === undefined ? (
        <span className="wrap-anywhere font-medium">{text}</span>
      ) : (
        <Link to={to} className="wrap-anywhere font-medium hover:underline">
          {text}
        </Link>
      )}
      <span className="block text-[0.8125rem] text-fg-muted">
        {kind === 'client' ? 'End user' : 'License'}
      </span>
    </div>
  )
}

export interface ImportReportProps {
  of: Import
  report: Pick<DataOf<typeof endpoints.imports.get>, 'rows' | 'pagination'>
  outcome: ImportOutcome | undefined
  page: number
  onOutcome: (outcome: string | undefined) => void
  onPage: (page: number) => void
}

/** What becomes of each row, or what became of it. */
export function ImportReport({ of, report, outcome, page, onOutcome, onPage }: ImportReportProps) {
  const download = async () =>
    (await import('../../ui/save-export.ts')).saveExport({
      endpoint: wire.imports.report,
      params: { id: of._id },
      query: {},
      noun: 'rows',
      total: of.rows,
    })
  return (
    <Card>
      <CardHeader
        title="Rows"
        description={of.dryRun ? 'What an import would do. Nothing has changed yet.' : 'What the import did.'}
        filters
        actions={
          <>
            <FilterBar values={{ outcome }}>
              <FilterSelect
                label="Outcome"
                unset="All rows"
                options={outcomes.map((value) => ({
                  value,
                  label: of.dryRun ? outcomeFacts[value].expected : outcomeFacts[value].label,
                }))}
                value={outcome}
                onChange={onOutcome}
              />
            </FilterBar>
            <Button onClick={() => void download()} disabled={of.rows === 0}>
              <Download />
              Download Report
            </Button>
          </>
        }
      />
      <Table
        caption="Rows of the import"
        columns={columnsOf(of.dryRun)}
        rows={report.rows}
        rowKey={({ row }) => String(row)}
        empty={<EmptyState title="No rows" description="No row of the import matches the filter." />}
      />
      {report.pagination.total > rowsPerPage && (
        <Pagination {...report.pagination} page={page} onPage={onPage} noun="rows" />
      )}
    </Card>
  )
}
