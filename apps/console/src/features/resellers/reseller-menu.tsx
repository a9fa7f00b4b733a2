import type { Reseller } from '@keyward/contract'
import { LogOut, Pause, Pencil, Play, ShieldOff, Trash2 } from 'lucide-react'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import type { ResellerAction } from './reseller-columns.tsx'

export interface ResellerMenuProps {
  reseller: Reseller
  onAction: (action: ResellerAction) => void
}

/** All actions of the list, and the end of all sessions. */
export function ResellerMenu({ reseller, onAction }: ResellerMenuProps) {
  const may = useMay()
  if (!may(wire.resellers.update)) return null
  return (
    <Menu label={`Actions for ${reseller.email}`}>
      <MenuItem icon={<Pencil />} onSelect={() => onAction('edit')}>
        Edit License Limit
      </MenuItem>
      {reseller.active ? (
        <MenuItem icon={<Pause />} onSelect={() => onAction('suspend')}>
          Suspend
        </MenuItem>
      ) : (
        <MenuItem icon={<Play />} onSelect={() => onAction('resume')}>
          Resume
        </MenuItem>
      )}
      <MenuItem icon={<LogOut />} onSelect={() => onAction('end-sessions')}>
        Sign Out Everywhere
      </MenuItem>
      <MenuItem icon={<ShieldOff />} onSelect={() => onAction('reset-second-factor')}>
        Reset Second Factor
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => onAction('delete')}>
        Delete Reseller
      </MenuItem>
    </Menu>
  )
}
