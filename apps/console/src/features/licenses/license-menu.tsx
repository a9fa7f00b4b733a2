import type { License } from '@keyward/contract'
import { Ban, CalendarPlus, CircleCheck, Clock, Copy, KeyRound, Pencil, Trash2, UserPlus } from 'lucide-react'
import type { ReactNode } from 'react'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { attaching } from './attaching.ts'
import type { licenseDialogs } from './license-dialogs.tsx'
import { useSetLicenseBan } from './queries.ts'

type LicenseAction = keyof typeof licenseDialogs

export interface LicenseMenuProps {
  license: License
  onAction: (action: LicenseAction) => void
}

export function LicenseMenu({ license, onAction }: LicenseMenuProps) {
  const ban = useSetLicenseBan()
  const may = useMay()
  const item = (action: LicenseAction, label: string, icon: ReactNode, letter?: 'e') => (
    <MenuItem icon={icon} letter={letter} onSelect={() => onAction(action)}>
      {label}
    </MenuItem>
  )
  const banItem = (
    <May call={license.banned ? wire.licenses.toggleBan : { call: wire.licenses.toggleBan, part: 'also' }}>
      <MenuItem
        letter="b"
        icon={license.banned ? <CircleCheck /> : <Ban />}
        onSelect={() => (license.banned ? ban.mutate({ license, banned: false }) : onAction('ban'))}
      >
        {license.banned ? 'Unban License' : 'Ban License'}
      </MenuItem>
    </May>
  )
  return (
    <Menu label={`Actions for ${keyPrefix(license.key)}`} letters>
      {license.banned && banItem}
      <MenuItem
        letter="y"
        icon={<Copy />}
        onSelect={() => copyText(license.key, 'License key copied to clipboard')}
      >
        Copy Full License Key
      </MenuItem>
      <May call={wire.licenses.update}>
        {license.expiresAt !== null && item('extend', 'Extend License', <CalendarPlus />, 'e')}
        {item('edit-expiry', 'Edit Expiry', <Clock />)}
        {item('edit-license', 'Edit License', <Pencil />)}
        {item('change-type', 'Change Type', <KeyRound />)}
      </May>
      {license.status === 'unused' &&
        !license.banned &&
        may(...attaching) &&
        item('attach', 'Add to End User', <UserPlus />)}
      {!license.banned && banItem}
      <May call={wire.licenses.remove}>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => onAction('delete')}>
          Delete License
        </MenuItem>
      </May>
    </Menu>
  )
}
