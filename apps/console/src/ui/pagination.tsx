import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type FormEvent, useRef } from 'react'
import { formatNumber } from '../lib/format/numbers.ts'
import { pageSizes } from '../lib/list/page-size.ts'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { controlClass } from './input.tsx'
import { pageNumbers } from './page-numbers.ts'

export interface PaginationProps {
  page: number
  limit: number
  total: number
  /** There are more than `total`. */
  capped?: boolean | undefined
  onPage: (page: number) => void
  /** Plural: 'licenses'. */
  noun?: string
  /** Offers other sizes of a page. */
  onLimit?: ((limit: number) => void) | undefined
}

const manyPages = 7
const count = (value: number) => formatNumber(value)

/** The footer of a list; hidden while the list is empty. Phones show the page and how many there are. */
export function Pagination({
  page,
  limit,
  total,
  capped,
  onPage,
  noun: many = 'items',
  onLimit,
}: PaginationProps) {
  const nav = useRef<HTMLElement>(null)
  if (total === 0) return null
  const noun = capped ? `${many} and more` : many
  const pages = Math.ceil(total / limit)
  const first = (page - 1) * limit + 1
  const last = Math.min(total, page * limit)
  const turnTo = (next: number) => {
    onPage(next)
    showTop(nav.current?.parentElement)
  }
  return (
    <nav
      ref={nav}
      aria-label={`Pages of ${noun}`}
      className="flex flex-wrap items-center justify-between gap-3 border-t px-4 py-3 md:px-5"
    >
      <p className="flex flex-wrap items-center gap-3 text-[0.8125rem] text-fg-muted tabular-nums">
        {count(first)}–{count(last)} of {count(total)} {total === 1 ? noun.replace(/s$/, '') : noun}
        {onLimit && total > Math.min(...pageSizes) && (
          <select
            aria-label="Rows per page"
            value={limit}
            onChange={({ currentTarget }) => onLimit(Number(currentTarget.value))}
            className="h-8 rounded-lg border border-line-strong/70 bg-surface px-1.5 text-fg max-md:h-10 max-md:text-base"
          >
            {pageSizes.map((size) => (
              <option key={size} value={size}>
                {size} a page
              </option>
            ))}
          </select>
        )}
      </p>
      {pages > 1 && (
        <div className="flex flex-wrap items-center gap-2">
          {pages > manyPages && <Jump pages={pages} onPage={onPage} />}
          <Button size="sm" disabled={page <= 1} onClick={() => turnTo(page - 1)}>
            <ChevronLeft />
            Previous
          </Button>
          <span className="text-[0.8125rem] text-fg-muted tabular-nums md:hidden">
            {count(page)} / {count(pages)}
          </span>
          <ol className="flex items-center gap-0.5 max-md:hidden">
            {pageNumbers(page, pages).map((number, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a gap has nothing else
              <li key={index}>
                {number === 'gap' ? (
                  <span aria-hidden className="px-1 text-fg-muted">
                    …
                  </span>
                ) : (
                  <Button
                    size="sm"
                    variant="ghost"
                    aria-label={`Page ${count(number)}`}
                    aria-current={number === page ? 'page' : undefined}
                    onClick={() => onPage(number)}
                    className={cx('min-w-8 px-2 tabular-nums', number === page && 'bg-accent-soft text-fg')}
                  >
                    {count(number)}
                  </Button>
                )}
              </li>
            ))}
          </ol>
          <Button size="sm" disabled={page >= pages} onClick={() => turnTo(page + 1)}>
            Next
            <ChevronRight />
          </Button>
        </div>
      )}
    </nav>
  )
}

/** On phones a page of a list is longer than the screen: reading and Tab go on at its top. */
function showTop(list: HTMLElement | null | undefined) {
  if (!list || !matchMedia('(width < 48rem)').matches) return
  list.tabIndex = -1
  // Below the header, which stays at the top.
  list.style.scrollMarginTop = '4rem'
  list.focus({ preventScroll: true })
  list.scrollIntoView()
}

function Jump({ pages, onPage }: { pages: number; onPage: (page: number) => void }) {
  function jump(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const text = new FormData(event.currentTarget).get('page')
    const to = Number.parseInt(String(text), 10)
    event.currentTarget.reset()
    if (to >= 1) onPage(Math.min(to, pages))
  }
  return (
    <form onSubmit={jump} noValidate className="mr-2 w-20 max-md:hidden">
      <input
        name="page"
        type="text"
        inputMode="numeric"
        autoComplete="off"
        aria-label={`Go to page, 1 to ${count(pages)}`}
        placeholder="Page…"
        className={cx(controlClass, 'h-8 text-[0.8125rem]')}
      />
    </form>
  )
}
