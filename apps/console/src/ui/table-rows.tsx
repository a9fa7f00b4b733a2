import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { Checkbox } from './checkbox.tsx'
import { cx } from './cx.ts'
import { Skeleton } from './skeleton.tsx'
import type { Column, TableProps } from './table-props.ts'

/** Opaque, because the other columns scroll under the fixed last column. */
export const lastCellClass =
  'md:group-data-overflows/table:sticky md:group-data-overflows/table:right-0 md:bg-(--row) md:group-data-overflows/table:before:pointer-events-none md:group-data-overflows/table:before:absolute md:group-data-overflows/table:before:inset-y-0 md:group-data-overflows/table:before:-left-4 md:group-data-overflows/table:before:w-4 md:group-data-overflows/table:before:bg-linear-to-l md:group-data-overflows/table:before:from-(--row) md:group-data-overflows/table:before:to-transparent'
export const rowColour = {
  head: '[--row:color-mix(in_oklab,var(--sunken)_60%,var(--surface))]',
  plain: '[--row:var(--surface)] md:hover:[--row:color-mix(in_oklab,var(--sunken)_60%,var(--surface))]',
  selected: '[--row:color-mix(in_oklab,var(--accent-soft)_60%,var(--surface))]',
}
const heightClass = 'md:h-11 md:group-data-[density=compact]/table:h-9'
const cellClass = cx(heightClass, 'md:px-3 md:py-0.5 md:first:pl-5')
const rowClass =
  'relative max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-1.5 max-md:px-4 max-md:py-2'
const breakClass = "max-md:before:order-2 max-md:before:basis-full max-md:before:content-['']"
const secondBreakClass = "max-md:after:order-4 max-md:after:basis-full max-md:after:content-['']"

/** Where a cell is on phones. Cells without a width of their own share what is left of the second line. */
const phoneClass = {
  title: 'max-md:order-1 max-md:min-w-0 max-md:grow max-md:basis-42',
  aside: 'max-md:order-1',
  rest: 'max-md:has-data-none:hidden max-md:order-3 max-md:flex max-md:min-w-0 max-md:max-w-max max-md:flex-1 max-md:gap-1.5 max-md:text-fg-muted max-md:text-xs',
  whole: 'max-md:order-3 max-md:flex max-md:items-center max-md:gap-1.5 max-md:text-fg-muted max-md:text-xs',
  third:
    'max-md:has-data-none:hidden max-md:order-5 max-md:min-w-0 max-md:flex max-md:gap-1.5 max-md:text-fg-muted max-md:text-xs',
  hidden: 'max-md:hidden',
}

const phoneLine = ({ phone }: Pick<Column<never>, 'phone'>) =>
  phone === 'third' ? 3 : phone === undefined || phone === 'whole' ? 2 : 1

/** Phones leave out an empty cell that shares its line. */
const isLeftOut = <Row,>({ phone, isEmpty }: Column<Row>, row: Row) =>
  (phone === undefined || phone === 'third') && (isEmpty?.(row) ?? false)

export function DataRow<Row>(props: TableProps<Row> & { row: Row; first: boolean }) {
  const { row, first, columns, rowKey, rowLabel, rowMenu, selection } = props
  const key = rowKey(row)
  const selected = selection?.selected.has(key) ?? false
  return (
    <tr
      // One row is in the tab order. Keys move the focus to the others.
      {...((rowMenu || selection) && { 'data-row': '', tabIndex: first ? 0 : -1 })}
      aria-selected={selection ? selected : undefined}
      className={cx(
        rowClass,
        breakClass,
        columns.some((column) => phoneLine(column) === 3) && secondBreakClass,
        'bg-(--row) focus-visible:-outline-offset-2 md:scroll-mt-[calc(var(--table-top)+2.5rem)]',
        selected ? rowColour.selected : rowColour.plain,
      )}
    >
      {selection && (
        <td className={cx('max-md:order-1 max-md:mr-1.5 md:w-10 md:pl-5', heightClass)}>
          <Checkbox
            label={`Select ${rowLabel?.(row) ?? 'row'}`}
            checked={selected}
            onChange={(checked) => {
              const next = new Set(selection.selected)
              if (checked) next.add(key)
              else next.delete(key)
              selection.onChange(next)
            }}
          />
        </td>
      )}
      {columns.map((column, index) => {
        const line = phoneLine(column)
        const joined =
          line > 1 &&
          columns.slice(0, index).some((other) => phoneLine(other) === line && !isLeftOut(other, row)) &&
          column.joint !== ''
        return (
          <td
            key={column.id}
            className={cx(
              cellClass,
              phoneClass[column.phone ?? 'rest'],
              column.align === 'end' && 'md:text-right',
              column.className,
            )}
          >
            {joined && (
              <span aria-hidden className="md:hidden">
                {column.joint ?? '·'}
              </span>
            )}
            <div className="min-w-0">{column.cell(row)}</div>
          </td>
        )
      })}
      {rowMenu && (
        <td
          className={cx(
            'max-md:order-1 max-md:-mr-2 md:w-12 md:pr-3 md:text-right',
            heightClass,
            lastCellClass,
          )}
        >
          {rowMenu(row)}
        </td>
      )}
    </tr>
  )
}

export function SkeletonRow<Row>({ columns, rowMenu, selection }: TableProps<Row>) {
  return (
    <tr className={cx(rowClass, breakClass, 'max-md:min-h-17')}>
      {selection && <td className="max-md:hidden" />}
      {columns.map((column, index) => (
        <td key={column.id} className={cx(cellClass, phoneClass[column.phone ?? 'rest'], column.className)}>
          <Skeleton className={cx('h-4', index === 0 ? 'w-40 max-w-full' : 'w-20 max-w-full')} />
        </td>
      ))}
      {rowMenu && <td className="max-md:hidden" />}
    </tr>
  )
}

/** Around text in one line: how far the table may shrink and widen it. */
export const textWidth = {
  name: 'grid min-w-0 md:min-w-36 md:max-w-72',
  text: 'grid min-w-0 md:min-w-24 md:max-w-44',
  short: 'grid min-w-0 md:min-w-16 md:max-w-36',
}

interface CellTextProps {
  width?: keyof typeof textWidth
  /** The whole text, on hover. */
  title?: string | undefined
  className?: string | undefined
  children: ReactNode
}

/** Text in one line, cut off where the table has no more room. */
export function CellText({ width = 'text', title, className, children }: CellTextProps) {
  return (
    <span className={textWidth[width]}>
      <span className={cx('truncate', className)} title={title}>
        {children}
      </span>
    </span>
  )
}

/** The name of a row's object in one line, which opens the page of the object. */
export function RowLink({ to, title, children }: { to: string; title: string; children?: ReactNode }) {
  return (
    <span className={textWidth.name}>
      <Link
        to={to}
        data-row-open=""
        className="truncate rounded-sm font-medium underline-offset-4 hover:underline"
        title={title}
      >
        {children ?? title}
      </Link>
    </span>
  )
}

/** A line and a muted note under it, or next to it in a compact table. */
export function Lines({ note, children }: { note?: ReactNode; children: ReactNode }) {
  return (
    <div className="grid min-w-0 items-baseline gap-x-2 md:leading-4 md:group-data-[density=compact]/table:flex">
      {children}
      {note && <div className="min-w-0 text-fg-muted text-xs leading-4">{note}</div>}
    </div>
  )
}

/** A cell without a value; left out on phones. */
export function NoValue() {
  return (
    <span data-none="" className="text-fg-muted">
      —
    </span>
  )
}
