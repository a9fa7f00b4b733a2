import { Download, Ellipsis } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { Menu, MenuItem } from './menu.tsx'

export interface MoreMenuProps {
  /** For example 'All licenses' or 'Matching licenses'. */
  scope: string
  /** There is nothing to export. */
  empty: boolean
  onExport: (format: 'csv' | 'json') => void
  /** More items, above the exports. */
  children?: ReactNode
}

/** The actions of a list that are needed now and then, with its exports. */
export function MoreMenu({ scope, empty, onExport, children }: MoreMenuProps) {
  return (
    <Menu
      trigger={
        <IconButton label="More actions" variant="secondary" className="size-9">
          <Ellipsis />
        </IconButton>
      }
    >
      {children}
      <MenuItem icon={<Download />} disabled={empty} onSelect={() => onExport('csv')}>
        {`Export ${scope} as CSV`}
      </MenuItem>
      <MenuItem icon={<Download />} disabled={empty} onSelect={() => onExport('json')}>
        {`Export ${scope} as JSON`}
      </MenuItem>
    </Menu>
  )
}
