import type { Reseller } from '@keyward/contract'
import { LogOut, Pause, Pencil, Play, ShieldOff, Trash2 } from 'lucide-react'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'

export type ResellerAction = 'edit' | 'suspend' | 'resume' | 'reset-second-factor' | 'end-sessions' | 'delete'

export interface ResellerMenuProps {
  reseller: Reseller
  onAction: (action: ResellerAction) => void
}

/** What can be done with a reseller. */
export function ResellerMenu({ reseller, onAction }: ResellerMenuProps) {
  const may = useMay()
  const { update, endSessions, resetSecondFactor, remove } = wire.resellers
  if (![update, endSessions, resetSecondFactor, remove].some((call) => may(call))) return null
  return (
    <Menu label={`Actions for ${reseller.email}`}>
      <May call={update}>
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
      </May>
      <May call={endSessions}>
        <MenuItem icon={<LogOut />} onSelect={() => onAction('end-sessions')}>
          Sign Out Everywhere
        </MenuItem>
      </May>
      <May call={resetSecondFactor}>
        <MenuItem icon={<ShieldOff />} onSelect={() => onAction('reset-second-factor')}>
          Reset Second Factor
        </MenuItem>
      </May>
      <May call={remove}>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => onAction('delete')}>
          Delete Reseller
        </MenuItem>
      </May>
    </Menu>
  )
}
