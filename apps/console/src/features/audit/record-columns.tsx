import type { AuditRecord } from '@keyward/contract'
import { Link } from 'react-router'
import { useMay } from '../../lib/api/rights.tsx'
import { callOfPage } from '../../lib/navigation/pages.ts'
import { cx } from '../../ui/cx.ts'
import { TimeText } from '../../ui/date.tsx'
import type { Column } from '../../ui/table.tsx'
import { CellText, Lines, NoValue } from '../../ui/table-rows.tsx'
import { nameOf } from './detail.ts'
import { isOnlyOne, kindOfActor, kindOfSubject, labelOf, pathOf } from './labels.ts'

export const recordColumns: Column<AuditRecord>[] = [
  {
    id: 'what',
    header: 'What',
    phone: 'title',
    cell: (record) => <span className="font-medium">{labelOf(record)}</span>,
  },
  {
    id: 'subject',
    header: 'Subject',
    phone: 'whole',
    cell: (record) => (record.subject ? <SubjectName record={record} /> : <NoValue />),
  },
  {
    id: 'who',
    header: 'Who',
    phone: 'third',
    cell: ({ actor }) =>
      isOnlyOne(actor) ? (
        kindOfActor(actor)
      ) : actor.kind === 'program' ? (
        // The next column names its app, except on a phone.
        <>
          <span className="max-md:hidden">{kindOfActor(actor)}</span>
          <Name of={actor} className="max-w-[calc(100vw-14rem)] md:hidden" />
        </>
      ) : (
        <Lines note={<span className="max-md:hidden">{kindOfActor(actor)}</span>}>
          <Name of={actor} className="max-md:max-w-[calc(100vw-14rem)]" />
        </Lines>
      ),
  },
  {
    id: 'app',
    header: 'App',
    phone: 'hidden',
    cell: ({ app, subject }) =>
      app && subject?._id !== app._id ? (
        <CellText title={app.name}>
          <bdi>{app.name}</bdi>
        </CellText>
      ) : (
        <NoValue />
      ),
  },
  {
    id: 'address',
    header: 'Address',
    phone: 'hidden',
    cell: ({ address }) =>
      address ? (
        // An IPv6 address is too long for one line.
        <code
          className={cx('font-mono text-xs', address.includes(':') ? 'wrap-anywhere' : 'whitespace-nowrap')}
        >
          {address}
        </code>
      ) : (
        <NoValue />
      ),
  },
  {
    id: 'at',
    header: 'Time',
    phone: 'third',
    cell: ({ at }) => <TimeText value={at} />,
  },
]

/** Names that others chose must not reorder the text around them; an id is shown where there is no name. */
function Name({ of, className }: { of: { name: string | null; _id: string }; className?: string }) {
  const text = nameOf(of)
  return (
    <CellText title={text} className={cx(of.name === null && 'text-fg-muted', className)}>
      <bdi>{text}</bdi>
    </CellText>
  )
}

/** Links to the page of the subject, if the reader may open it. */
export function SubjectName({ record }: { record: AuditRecord }) {
  const may = useMay()
  const { subject } = record
  if (!subject) return null
  const path = pathOf(record)
  const call = path === undefined ? undefined : callOfPage(path)
  const name = (
    <Name
      of={subject}
      className={cx('max-md:max-w-52', subject.kind === 'license' && 'font-mono text-[0.8125rem]')}
    />
  )
  return (
    <Lines note={<span className="max-md:hidden">{kindOfSubject(subject)}</span>}>
      {path !== undefined && (call === undefined || may(call)) ? (
        <Link to={path} className="min-w-0 rounded-sm underline-offset-4 hover:underline">
          {name}
        </Link>
      ) : (
        name
      )}
    </Lines>
  )
}
