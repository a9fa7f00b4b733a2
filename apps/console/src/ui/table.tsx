import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import { type ReactNode, useCallback, useState } from 'react'
import { Checkbox } from './checkbox.tsx'
import { cx } from './cx.ts'
import { Skeleton } from './skeleton.tsx'
import { ErrorState } from './states.tsx'

export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** Makes the header a button that sorts by this column. */
  sortable?: boolean
  align?: 'start' | 'end'
  /** On phones, 'title' is the heading of the card and has no label; 'hidden' columns are left out. */
  phone?: 'title' | 'hidden'
  className?: string
}

export interface Sort {
  by: string
  direction: 'asc' | 'desc'
}

export interface Selection {
  selected: ReadonlySet<string>
  onChange: (selected: Set<string>) => void
}

export interface TableProps<Row> {
  /** Read aloud; not shown. */
  caption: string
  columns: Column<Row>[]
  rows: Row[] | undefined
  rowKey: (row: Row) => string
  /** The name of a row in the label of its checkbox. */
  rowLabel?: (row: Row) => string
  /** A Menu with the row's actions, or buttons. */
  rowMenu?: (row: Row) => ReactNode
  selection?: Selection
  sort?: Sort
  onSort?: (sort: Sort) => void
  loading?: boolean
  skeletonRows?: number
  /** Shown instead of rows when there are none. */
  empty?: ReactNode
  error?: { title: string; description?: string; onRetry: () => void; retrying?: boolean } | undefined
}

/** Opaque, because the other columns scroll under the fixed last column. */
const stickyClass =
  'md:sticky md:right-0 md:bg-(--row) md:before:pointer-events-none md:before:absolute md:before:inset-y-0 md:before:-left-4 md:before:w-4 md:before:bg-linear-to-l md:before:from-(--row) md:before:to-transparent'
const rowColour = {
  head: '[--row:color-mix(in_oklab,var(--sunken)_60%,var(--surface))]',
  plain: '[--row:var(--surface)] md:hover:[--row:color-mix(in_oklab,var(--sunken)_60%,var(--surface))]',
  selected: '[--row:color-mix(in_oklab,var(--accent-soft)_60%,var(--surface))]',
}
const cellClass =
  'max-md:flex max-md:items-center max-md:justify-between max-md:gap-4 max-md:px-0 max-md:py-1 md:px-3 md:py-3 md:first:pl-5 2xl:px-5'

/**
 * Rows become stacked cards under 768 px. The roles are explicit, because `display: block` removes the table semantics.
 */
export function Table<Row>(props: TableProps<Row>) {
  const {
    caption,
    columns,
    rows,
    rowKey,
    rowMenu,
    selection,
    loading,
    skeletonRows = 5,
    empty,
    error,
  } = props
  const scroller = useOverflow()
  if (error) return <ErrorState {...error} />
  if (!loading && rows?.length === 0) return <>{empty}</>
  const keys = rows?.map(rowKey) ?? []
  return (
    <div
      ref={scroller.ref}
      className="relative focus-visible:-outline-offset-2 md:scroll-pr-16 md:overflow-x-auto"
      aria-busy={loading}
      {...(scroller.overflows && { role: 'region', 'aria-label': caption, tabIndex: 0 })}
    >
      {selection && keys.length > 0 && (
        <div className="flex items-center gap-3 border-t bg-sunken px-5 py-2.5 text-[0.8125rem] text-fg-muted md:hidden">
          <SelectAll keys={keys} selection={selection} />
          <span aria-hidden>Select all on this page</span>
        </div>
      )}
      {/* biome-ignore-start lint/a11y/noRedundantRoles: see above */}
      <table role="table" className="w-full border-t text-left max-md:block">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup" className="max-md:hidden">
          <tr role="row" className={cx('border-b bg-(--row) text-fg-muted text-xs', rowColour.head)}>
            {selection && (
              <th role="columnheader" scope="col" className="w-10 py-2.5 pl-5">
                <SelectAll keys={keys} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} {...props} />
            ))}
            {rowMenu && (
              <th role="columnheader" scope="col" className={cx('w-12', stickyClass)}>
                <span className="sr-only">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup" className="divide-y max-md:block">
          {loading || !rows
            ? Array.from({ length: skeletonRows }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: skeleton rows have nothing else
                <SkeletonRow key={index} {...props} />
              ))
            : rows.map((row) => <DataRow key={rowKey(row)} row={row} {...props} />)}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above */}
    </div>
  )
}

/** Whether the table overflows, so that it must be scrollable with the keyboard. */
function useOverflow() {
  const [overflows, setOverflows] = useState(false)
  const ref = useCallback((box: HTMLDivElement | null) => {
    if (!box) return
    const watch = new ResizeObserver(() => setOverflows(box.scrollWidth > box.clientWidth))
    watch.observe(box)
    const table = box.querySelector('table')
    if (table) watch.observe(table)
    return () => watch.disconnect()
  }, [])
  return { ref, overflows }
}

function HeaderCell<Row>({ column, sort, onSort }: TableProps<Row> & { column: Column<Row> }) {
  const active = sort?.by === column.id ? sort.direction : undefined
  const Icon = active === 'asc' ? ArrowUp : active === 'desc' ? ArrowDown : ChevronsUpDown
  return (
    <th
      scope="col"
      aria-sort={active === 'asc' ? 'ascending' : active === 'desc' ? 'descending' : undefined}
      className={cx(
        'whitespace-nowrap px-3 py-2.5 font-medium first:pl-5 2xl:px-5',
        column.align === 'end' && 'text-right',
        column.className,
      )}
    >
      {column.sortable && onSort ? (
        <button
          type="button"
          className="-mx-1.5 inline-flex items-center gap-1 rounded px-1.5 py-0.5 hover:bg-hover hover:text-fg"
          onClick={() => onSort({ by: column.id, direction: active === 'desc' ? 'asc' : 'desc' })}
        >
          {column.header}
          <Icon aria-hidden className={cx('size-3.5', !active && 'opacity-60')} />
        </button>
      ) : (
        column.header
      )}
    </th>
  )
}

function DataRow<Row>(props: TableProps<Row> & { row: Row }) {
  const { row, columns, rowKey, rowLabel, rowMenu, selection } = props
  const key = rowKey(row)
  const selected = selection?.selected.has(key) ?? false
  return (
    <tr
      aria-selected={selection ? selected : undefined}
      className={cx(
        'relative bg-(--row) max-md:block max-md:px-5 max-md:py-3',
        selected ? rowColour.selected : rowColour.plain,
        selection && 'max-md:pl-12',
      )}
    >
      {selection && (
        <td className="max-md:absolute max-md:top-4.5 max-md:left-5 md:w-10 md:py-3 md:pl-5">
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
      {columns.map((column) => (
        <td
          key={column.id}
          className={cx(
            cellClass,
            column.align === 'end' && 'md:text-right',
            column.phone === 'hidden' && 'max-md:hidden',
            column.phone === 'title' && rowMenu && 'max-md:pr-10',
            column.className,
          )}
        >
          {column.phone !== 'title' && (
            <span aria-hidden className="shrink-0 text-[0.8125rem] text-fg-muted md:hidden">
              {column.header}
            </span>
          )}
          <div className={cx('min-w-0', column.phone !== 'title' && 'max-md:text-right')}>
            {column.cell(row)}
          </div>
        </td>
      ))}
      {rowMenu && (
        <td
          className={cx(
            'max-md:absolute max-md:top-2.5 max-md:right-3 md:w-12 md:py-1.5 md:pr-3 md:text-right',
            stickyClass,
          )}
        >
          {rowMenu(row)}
        </td>
      )}
    </tr>
  )
}

function SkeletonRow<Row>({ columns, rowMenu, selection }: TableProps<Row>) {
  return (
    <tr className="max-md:block max-md:px-5 max-md:py-3">
      {selection && <td className="max-md:hidden" />}
      {columns.map((column, index) => (
        <td key={column.id} className={cx(cellClass, column.phone === 'hidden' && 'max-md:hidden')}>
          <Skeleton className={cx('my-0.5 h-4', index === 0 ? 'w-40 max-w-full' : 'w-24 max-w-full')} />
        </td>
      ))}
      {rowMenu && <td className="max-md:hidden" />}
    </tr>
  )
}

function SelectAll({ keys, selection }: { keys: string[]; selection: Selection }) {
  const count = keys.filter((key) => selection.selected.has(key)).length
  return (
    <Checkbox
      label="Select all rows on this page"
      // A click while rows are loading would be lost.
      disabled={keys.length === 0}
      checked={count > 0 && count === keys.length ? true : count > 0 ? 'indeterminate' : false}
      onChange={(checked) => {
        const next = new Set(selection.selected)
        for (const key of keys) {
          if (checked) next.add(key)
          else next.delete(key)
        }
        selection.onChange(next)
      }}
    />
  )
}
