import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { Checkbox } from './checkbox.tsx'
import { cx } from './cx.ts'
import { ErrorState } from './states.tsx'
import type { Column, Selection, TableProps } from './table-props.ts'
import { DataRow, lastCellClass, rowColour, SkeletonRow } from './table-rows.tsx'
import { isShown } from './table-view.ts'

export type { Column } from './table-props.ts'

const headClass = cx(
  'md:sticky md:top-(--table-top) md:z-10 bg-(--row) shadow-[inset_0_-1px_var(--line)]',
  rowColour.head,
)

/**
 * Rows have two lines under 768 px. The roles are explicit, because `display: block` removes the table semantics. The
 * header stays in sight, unless the table is wider than its place: then it scrolls within it.
 */
export function Table<Row>({ columns: all, ...props }: TableProps<Row>) {
  const {
    caption,
    rows,
    rowKey,
    rowMenu,
    selection,
    view,
    fixed,
    loading,
    skeletonRows = 5,
    empty,
    error,
  } = props
  const scroller = useOverflow()
  useEffect(() => {
    void import('./table-keys.ts').then(({ listenForRowKeys }) => listenForRowKeys()).catch(() => {})
  }, [])
  if (error) return <ErrorState {...error} />
  if (!loading && rows?.length === 0) return <>{empty}</>
  const columns = all.filter((column) => isShown(column, view, fixed))
  const keys = rows?.map(rowKey) ?? []
  const parts = { ...props, columns }
  return (
    <div
      ref={scroller.ref}
      data-density={view?.density}
      className={cx(
        'group/table relative focus-visible:-outline-offset-2 md:scroll-pr-16',
        scroller.overflows && 'md:overflow-x-auto',
      )}
      aria-busy={loading}
      {...(scroller.overflows && {
        'data-overflows': '',
        role: 'region',
        'aria-label': caption,
        tabIndex: 0,
      })}
    >
      {/* biome-ignore-start lint/a11y/noRedundantRoles: see above */}
      <table role="table" className="w-full border-t text-left max-md:block">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup" className="max-md:hidden">
          <tr role="row" className="text-fg-muted text-xs">
            {selection && (
              <th role="columnheader" scope="col" className={cx('w-10 py-2 pl-5', headClass)}>
                <SelectAll keys={keys} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} {...parts} />
            ))}
            {rowMenu && (
              <th role="columnheader" scope="col" className={cx('w-12', headClass, lastCellClass)}>
                <span className="sr-only">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup" className="divide-y max-md:block">
          {loading || !rows
            ? Array.from({ length: skeletonRows }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: skeleton rows have nothing else
                <SkeletonRow key={index} {...parts} />
              ))
            : rows.map((row, index) => (
                <DataRow key={rowKey(row)} row={row} first={index === 0} {...parts} />
              ))}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above */}
      {selection && keys.length > 0 && (
        <div className="flex items-center gap-3 border-t px-4 py-2.5 text-[0.8125rem] text-fg-muted md:hidden">
          <SelectAll keys={keys} selection={selection} />
          <span aria-hidden>Select all on this page</span>
        </div>
      )}
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
  const next = active === 'desc' || (!active && column.sortable === 'names') ? 'asc' : 'desc'
  const Icon = active === 'asc' ? ArrowUp : active === 'desc' ? ArrowDown : ChevronsUpDown
  return (
    <th
      scope="col"
      aria-sort={active === 'asc' ? 'ascending' : active === 'desc' ? 'descending' : undefined}
      className={cx(
        'whitespace-nowrap px-3 py-2 font-medium first:pl-5',
        headClass,
        column.align === 'end' && 'text-right',
        column.className,
      )}
    >
      {column.sortable && onSort ? (
        <button
          type="button"
          className="-mx-1.5 inline-flex items-center gap-1 rounded px-1.5 py-0.5 hover:bg-hover hover:text-fg"
          onClick={() => onSort({ by: column.id, direction: next })}
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
