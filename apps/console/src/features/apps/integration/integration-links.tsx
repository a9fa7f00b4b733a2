import { ArrowUpRight } from 'lucide-react'
import { paths } from '../../../lib/navigation/paths.ts'
import { Button } from '../../../ui/button.tsx'

const links = [
  { label: 'API docs', href: paths.docs },
  { label: 'All SDKs', href: paths.sdks },
]

/** Links to what the server itself documents. */
export function IntegrationLinks({ className }: { className?: string }) {
  return links.map(({ label, href }) => (
    <Button key={href} asChild variant="ghost" className={className}>
      <a href={href} target="_blank" rel="noreferrer">
        {label}
        <ArrowUpRight />
        <span className="sr-only">(opens in a new tab)</span>
      </a>
    </Button>
  ))
}
