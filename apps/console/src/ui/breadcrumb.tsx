import { ChevronLeft } from 'lucide-react'
import { Link } from 'react-router'

/** A link to the parent page, above the header of a page. */
export function Breadcrumb({ label, to }: { label: string; to: string }) {
  return (
    <nav aria-label="Breadcrumb" className="-mb-3 md:-mb-5">
      <Link
        to={to}
        className="-ml-1.5 inline-flex items-center gap-0.5 rounded text-[0.8125rem] text-fg-muted hover:text-fg"
      >
        <ChevronLeft aria-hidden className="size-4" />
        {label}
      </Link>
    </nav>
  )
}
