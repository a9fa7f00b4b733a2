import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { tableState, useLastPage, usePage } from '../lib/list/list-page.ts'
import { lazyNamed } from '../lib/navigation/lazy.ts'
import { Button } from './button.tsx'
import { Card, CardHeader, type CardHeaderProps } from './card.tsx'
import { Deferred } from './deferred.tsx'
import type { PaginationProps } from './pagination.tsx'
import { EmptyState, type ErrorStateProps } from './states.tsx'
import { Table } from './table.tsx'
import type { TableProps } from './table-props.ts'

const Pagination = lazyNamed(() => import('./pagination.tsx'), 'Pagination')

export const rowsPerPage = 25

type TableParts<Row> = Omit<TableProps<Row>, 'rows' | 'rowKey' | 'loading' | 'error' | 'empty'>

export interface ResourceListProps<Row extends { _id: string }>
  extends TableParts<Row>,
    Pick<CardHeaderProps, 'title' | 'description' | 'stacked'> {
  /** Plural: 'licenses'. */
  noun: string
  icon: ReactNode
  /** A FilterBar. */
  filters: ReactNode
  query: UseQueryResult
  /** A query that has to succeed first. */
  before?: UseQueryResult
  /** The page that the query has read; undefined while it is not the one that the URL asks for. */
  page: { pagination: { total: number; pages: number; capped?: boolean | undefined } } | undefined
  rows: Row[] | undefined
  limit?: number
  onLimit?: PaginationProps['onLimit']
  failure: string
  failureHint?: string
  remedy?: Pick<ErrorStateProps, 'remedy'> | false
  /** Set while filters hide rows. */
  onClear: (() => void) | undefined
  clearLabel?: string
  /** What is said while filters hide all rows. */
  nothingFound?: string
  /** What is said while there are no rows at all. */
  empty: { title: string; description: ReactNode; actions?: ReactNode }
}

/** A page of rows with filters above and page numbers below, and what is said when there is none. */
export function ResourceList<Row extends { _id: string }>({
  title,
  description,
  stacked = false,
  noun,
  icon,
  filters,
  query,
  before,
  page,
  rows,
  limit = rowsPerPage,
  onLimit,
  failure,
  failureHint,
  remedy,
  onClear,
  clearLabel = 'Clear Filters',
  nothingFound = 'No results match your search and filters.',
  empty,
  ...table
}: ResourceListProps<Row>) {
  const { page: current, turnTo } = usePage()
  useLastPage(query.isPlaceholderData ? undefined : page?.pagination.pages)
  const { loading, error } = tableState(query, failure, before, onClear)
  return (
    <Card aria-busy={query.isPlaceholderData && !error} className="aria-busy:[&_tbody]:animate-dim">
      <CardHeader title={title} description={description} stacked={stacked} filters actions={filters} />
      <Table
        {...table}
        rows={rows}
        rowKey={({ _id }) => _id}
        loading={loading}
        error={error && { ...error, ...(failureHint && { description: failureHint }), ...remedy }}
        empty={
          onClear ? (
            <EmptyState
              icon={icon}
              title={`No ${noun} found`}
              description={nothingFound}
              actions={<Button onClick={onClear}>{clearLabel}</Button>}
            />
          ) : (
            <EmptyState icon={icon} {...empty} />
          )
        }
      />
      {page && (
        <Deferred fallback={<div className="h-13 border-t" />}>
          <Pagination
            page={current}
            limit={limit}
            total={page.pagination.total}
            onPage={turnTo}
            onLimit={onLimit}
            noun={noun}
            capped={page.pagination.capped}
          />
        </Deferred>
      )}
    </Card>
  )
}
