import { ChevronLeft, ChevronRight } from 'lucide-react'
import { Button } from './button.tsx'

export interface PaginationProps {
  page: number
  limit: number
  total: number
  onPage: (page: number) => void
  /** Plural: 'licenses'. */
  noun?: string
}

/** The footer of a list; hidden while the list is empty. */
export function Pagination({ page, limit, total, onPage, noun = 'items' }: PaginationProps) {
  if (total === 0) return null
  const pages = Math.ceil(total / limit)
  const first = (page - 1) * limit + 1
  const last = Math.min(total, page * limit)
  const count = (value: number) => value.toLocaleString()
  return (
    <nav
      aria-label={`Pages of ${noun}`}
      className="flex flex-wrap items-center justify-between gap-3 border-t px-4 py-3 md:px-5"
    >
      <p className="text-[0.8125rem] text-fg-muted tabular-nums">
        {count(first)}–{count(last)} of {count(total)} {total === 1 ? noun.replace(/s$/, '') : noun}
      </p>
      {pages > 1 && (
        <div className="flex items-center gap-2">
          <Button size="sm" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            <ChevronLeft />
            Previous
          </Button>
          <span className="text-[0.8125rem] text-fg-muted tabular-nums">
            {count(page)} / {count(pages)}
          </span>
          <Button size="sm" disabled={page >= pages} onClick={() => onPage(page + 1)}>
            Next
            <ChevronRight />
          </Button>
        </div>
      )}
    </nav>
  )
}
