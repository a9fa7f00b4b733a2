import { type ReactNode, useEffect, useRef } from 'react'
import { Link, Navigate } from 'react-router'
import { ApiError } from '../../lib/api/call.ts'
import { forgetBelow } from '../../lib/form/unsaved.ts'
import { Breadcrumb } from '../../ui/breadcrumb.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { EmptyState, QueryError } from '../../ui/states.tsx'

export interface ItemPageProps<Item> {
  query: { data: Item | undefined; error: Error | null; isFetching: boolean; refetch(): unknown }
  /** The list that the object is part of. */
  list: { label: string; to: string }
  /** For example 'License'. */
  noun: string
  icon: ReactNode
  children: (item: Item) => ReactNode
}

/** The page of a single object, with its states. Returns to the list when the object was deleted meanwhile. */
export function ItemPage<Item>({ query, list, noun, icon, children }: ItemPageProps<Item>) {
  const shownAt = useRef<string>(undefined)
  const { data, error } = query
  const missing = error instanceof ApiError && error.status === 404
  useEffect(() => {
    if (missing) forgetBelow(location.pathname)
  }, [missing])
  // This page stays until the code of the next one is loaded, which has another path by then.
  if (data !== undefined && !missing) shownAt.current ??= location.pathname
  return (
    <div className="grid gap-4 md:gap-6">
      {missing && shownAt.current === location.pathname && <Navigate to={list.to} replace />}
      <Breadcrumb {...list} />
      {missing ? (
        <>
          <PageHeader title={`${noun} not found`} />
          <Card>
            <EmptyState
              icon={icon}
              title={`This ${noun.toLowerCase()} does not exist`}
              description="It may have been deleted."
              actions={
                <Button asChild>
                  <Link to={list.to}>{`Show ${list.label}`}</Link>
                </Button>
              }
            />
          </Card>
        </>
      ) : data !== undefined ? (
        children(data)
      ) : error ? (
        <Card>
          <QueryError
            query={query}
            title={`Failed to load the ${noun.toLowerCase()}`}
            description={error.message}
          />
        </Card>
      ) : (
        <>
          <Skeleton className="mb-5 h-9 w-64 max-w-full" />
          <Skeleton className="h-[28rem] rounded-xl" />
        </>
      )}
    </div>
  )
}

/** Facts on the left, the rest on the right; one column on small screens. */
export function ItemColumns({ children }: { children: ReactNode }) {
  return (
    <div className="grid items-start gap-4 md:gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      {children}
    </div>
  )
}
