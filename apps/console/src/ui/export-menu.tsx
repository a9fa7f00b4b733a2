import { Download } from 'lucide-react'
import { Button } from './button.tsx'
import { Menu, MenuItem } from './menu.tsx'

export interface ExportMenuProps {
  /** For example 'All licenses' or 'Matching licenses'. */
  scope: string
  disabled: boolean
  onExport: (format: 'csv' | 'json') => void
}

export function ExportMenu({ scope, disabled, onExport }: ExportMenuProps) {
  return (
    <Menu
      trigger={
        <Button disabled={disabled}>
          <Download />
          Export
        </Button>
      }
    >
      <MenuItem onSelect={() => onExport('csv')}>{scope} as CSV</MenuItem>
      <MenuItem onSelect={() => onExport('json')}>{scope} as JSON</MenuItem>
    </Menu>
  )
}
