import type { ReactNode } from 'react'
import type { ErrorStateProps } from './states.tsx'
import type { TableView } from './table-view.ts'

export interface Column<Row> {
  id: string
  header: string
  cell: (row: Row) => ReactNode
  /** Makes the header a button that sorts by this column: names from A first, dates from the last. */
  sortable?: 'names' | 'dates' | undefined
  align?: 'start' | 'end'
  /** Whether the cell says nothing: phones leave it out of its line. */
  isEmpty?: (row: Row) => boolean
  /**
   * A row has two lines on phones. The first has 'title' and 'aside', the second all others, cut off unless 'whole'.
   * 'third' starts a third line; 'hidden' is left out.
   */
  phone?: 'title' | 'aside' | 'whole' | 'third' | 'hidden'
  /** Between this cell and the one before it on phones; '·' by default. */
  joint?: string
  /** Users cannot hide it; nor a title. */
  always?: boolean
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
  rowMenu?: ((row: Row) => ReactNode) | undefined
  selection?: Selection | undefined
  /** The user's choice of columns and density, of useTableView. */
  view?: TableView
  /** Ids of the columns whose value a filter fixes. */
  fixed?: readonly string[]
  sort?: Sort
  onSort?: (sort: Sort) => void
  loading?: boolean
  skeletonRows?: number
  /** Shown instead of rows when there are none. */
  empty?: ReactNode
  error?: ErrorStateProps | undefined
}
