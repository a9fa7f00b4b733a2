import { Search } from 'lucide-react'
import { IconButton } from '../../ui/button.tsx'
import { setOpened } from './opened.ts'

const label = 'Search or go to'
const common = {
  'aria-haspopup': 'dialog',
  'aria-keyshortcuts': 'Control+K Meta+K',
  onClick: () => setOpened('palette'),
} as const

/** Opens the command palette. Looks like a search field, or like an icon when `small`. */
export function SearchButton({ small = false, className }: { small?: boolean; className?: string }) {
  if (small) {
    return (
      <IconButton label={label} className={className} {...common}>
        <Search />
      </IconButton>
    )
  }
  return (
    <button
      type="button"
      className="flex h-9 w-full items-center gap-2.5 rounded-lg border border-control-line bg-control px-2.5 text-fg-muted shadow-soft transition-colors hover:bg-hover hover:text-fg"
      {...common}
    >
      <Search aria-hidden className="size-4" />
      <span className="flex-1 text-left">{label}</span>
      <kbd aria-hidden className="font-sans text-fg-faint text-xs">
        {/Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}
      </kbd>
    </button>
  )
}
