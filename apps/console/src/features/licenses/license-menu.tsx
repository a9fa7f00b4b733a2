import type { License } from '@keyward/contract'
import {
  Ban,
  CalendarClock,
  CalendarPlus,
  CircleCheck,
  Copy,
  Layers,
  Pencil,
  Trash2,
  UserPlus,
} from 'lucide-react'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { attaching } from './attaching.ts'
import { useSetLicenseBan } from './queries.ts'

export interface LicenseMenuProps {
  license: License
  onExtend: () => void
  onEditExpiry: () => void
  onEdit: () => void
  onChangeType: () => void
  onAttach: () => void
  onBan: () => void
  onDelete: () => void
}

export function LicenseMenu({
  license,
  onExtend,
  onEditExpiry,
  onEdit,
  onChangeType,
  onAttach,
  onBan,
  onDelete,
}: LicenseMenuProps) {
  const ban = useSetLicenseBan()
  const may = useMay()
  const banItem = (
    <May call={license.banned ? wire.licenses.toggleBan : { call: wire.licenses.toggleBan, part: 'also' }}>
      <MenuItem
        icon={license.banned ? <CircleCheck /> : <Ban />}
        onSelect={() => (license.banned ? ban.mutate({ license, banned: false }) : onBan())}
      >
        {license.banned ? 'Unban License' : 'Ban License'}
      </MenuItem>
    </May>
  )
  return (
    <Menu label={`Actions for ${keyPrefix(license.key)}`}>
      {license.banned && banItem}
      <MenuItem icon={<Copy />} onSelect={() => copyText(license.key, 'License key copied to clipboard')}>
        Copy Full License Key
      </MenuItem>
      <May call={wire.licenses.update}>
        {license.expiresAt !== null && (
          <MenuItem icon={<CalendarPlus />} onSelect={onExtend}>
            Extend License
          </MenuItem>
        )}
        <MenuItem icon={<CalendarClock />} onSelect={onEditExpiry}>
          Edit Expiry
        </MenuItem>
        <MenuItem icon={<Pencil />} onSelect={onEdit}>
          Edit License
        </MenuItem>
        <MenuItem icon={<Layers />} onSelect={onChangeType}>
          Change Type
        </MenuItem>
      </May>
      {license.status === 'unused' && !license.banned && may(...attaching) && (
        <MenuItem icon={<UserPlus />} onSelect={onAttach}>
          Add to End User
        </MenuItem>
      )}
      {!license.banned && banItem}
      <May call={wire.licenses.remove}>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} tone="danger" onSelect={onDelete}>
          Delete License
        </MenuItem>
      </May>
    </Menu>
  )
}
