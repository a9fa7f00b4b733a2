import type { Client } from '@keyward/contract'
import {
  Ban,
  Braces,
  CalendarPlus,
  CircleCheck,
  Clock,
  Copy,
  History,
  KeyRound,
  Mail,
  MonitorSmartphone,
  Pause,
  Pencil,
  Play,
  RectangleEllipsis,
  Trash2,
} from 'lucide-react'
import { useNavigate } from 'react-router'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { endUserName, isNamedByKey } from '../../lib/format/end-user-name.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { useSetPaused } from './queries.ts'

export type EndUserAction =
  | 'ban'
  | 'reset-hwid'
  | 'extend'
  | 'edit-expiry'
  | 'edit-user'
  | 'set-password'
  | 'mail-password'
  | 'add-license'
  | 'variables'
  | 'delete'

/** The call itself, and what the vendor needs besides it. */
export const addingLicense = [wire.clients.addLicense, wire.licenses.update, wire.licenses.list]

export function EndUserMenu({ user, onAction }: { user: Client; onAction: (action: EndUserAction) => void }) {
  const { hwid } = user
  const setPaused = useSetPaused()
  const navigate = useNavigate()
  const may = useMay()
  const banItem = (
    <May call={wire.clients.toggleBan}>
      <MenuItem letter="b" icon={user.ban ? <CircleCheck /> : <Ban />} onSelect={() => onAction('ban')}>
        {user.ban ? 'Unban' : 'Ban'}
      </MenuItem>
    </May>
  )
  return (
    <Menu label={`Actions for ${endUserName(user)}`} letters>
      {user.ban && banItem}
      {user.expiresAt !== null && (
        <May call={wire.bulk.clients}>
          <MenuItem letter="e" icon={<CalendarPlus />} onSelect={() => onAction('extend')}>
            Extend Subscription
          </MenuItem>
        </May>
      )}
      <May call={wire.clients.update}>
        <MenuItem icon={<Clock />} onSelect={() => onAction('edit-expiry')}>
          Edit Expiry
        </MenuItem>
        <MenuItem icon={<Pencil />} onSelect={() => onAction('edit-user')}>
          Edit End User
        </MenuItem>
      </May>
      <May call={wire.clients.setPassword}>
        {!isNamedByKey(user) && (
          <>
            <MenuItem icon={<RectangleEllipsis />} onSelect={() => onAction('set-password')}>
              Set Password
            </MenuItem>
            <MenuItem icon={<Mail />} onSelect={() => onAction('mail-password')}>
              Mail Password Link
            </MenuItem>
          </>
        )}
      </May>
      {may(...addingLicense) && (
        <MenuItem icon={<KeyRound />} onSelect={() => onAction('add-license')}>
          Add License
        </MenuItem>
      )}
      {!user.ban && banItem}
      {(user.paused || user.status === 'active') && (
        <May call={wire.clients.togglePause}>
          <MenuItem
            icon={user.paused ? <Play /> : <Pause />}
            onSelect={() => setPaused.mutate({ user, paused: !user.paused })}
          >
            {user.paused ? 'Resume Subscription' : 'Pause Subscription'}
          </MenuItem>
        </May>
      )}
      <May call={wire.clients.resetHwid}>
        <MenuItem icon={<MonitorSmartphone />} onSelect={() => onAction('reset-hwid')}>
          Reset HWID
        </MenuItem>
      </May>
      {hwid && (
        <MenuItem letter="y" icon={<Copy />} onSelect={() => copyText(hwid)}>
          Copy HWID
        </MenuItem>
      )}
      <May call={wire.variables.setClient}>
        <MenuItem icon={<Braces />} onSelect={() => onAction('variables')}>
          Variables
        </MenuItem>
      </May>
      <MenuItem icon={<History />} onSelect={() => void navigate(`${paths.activity}?client=${user._id}`)}>
        Activity
      </MenuItem>
      <May call={wire.clients.remove}>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => onAction('delete')}>
          Delete
        </MenuItem>
      </May>
    </Menu>
  )
}
