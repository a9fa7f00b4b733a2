import type { License } from '@keyward/contract'
import { Ban, CalendarPlus, CircleCheck, Download, Trash2 } from 'lucide-react'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { SelectionBar } from '../../ui/selection-bar.tsx'
import { saveLicenses } from './export-selected.ts'

const BulkLicensesDialog = lazyNamed(() => import('./bulk-dialogs.tsx'), 'BulkLicensesDialog')
const actions = {
  'bulk-extend': 'extend',
  'bulk-ban': 'ban',
  'bulk-unban': 'unban',
  'bulk-delete': 'delete',
} as const
type LicenseBulk = keyof typeof actions

export interface LicenseSelectionProps {
  licenses: License[]
  onSelect: (ids: string[]) => void
  dialog: LicenseBulk | undefined
  may: (dialog: LicenseBulk) => boolean
  onOpen: (dialog: LicenseBulk) => void
  onClose: () => void
}

/** The actions for the selected licenses. */
export function LicenseSelection(props: LicenseSelectionProps) {
  const { licenses, onSelect, dialog, may, onOpen, onClose } = props
  return (
    <>
      {licenses.length > 0 && (
        <Bar licenses={licenses} may={may} onAction={onOpen} onClear={() => onSelect([])} />
      )}
      {dialog && (
        <DialogSlot>
          <BulkLicensesDialog
            key={dialog}
            action={actions[dialog]}
            licenses={licenses}
            onSelect={onSelect}
            onClose={onClose}
          />
        </DialogSlot>
      )}
    </>
  )
}

interface BarProps {
  licenses: License[]
  may: (dialog: LicenseBulk) => boolean
  onAction: (dialog: LicenseBulk) => void
  onClear: () => void
}

function Bar({ licenses, may, onAction, onClear }: BarProps) {
  return (
    <SelectionBar text={`${amountOf(licenses.length, 'license')} selected`} onClear={onClear}>
      {may('bulk-extend') && licenses.some(({ expiresAt }) => expiresAt !== null) && (
        <Button size="sm" onClick={() => onAction('bulk-extend')}>
          <CalendarPlus />
          Extend
        </Button>
      )}
      {may('bulk-ban') && licenses.some((license) => !license.banned) && (
        <Button size="sm" onClick={() => onAction('bulk-ban')}>
          <Ban />
          Ban
        </Button>
      )}
      {may('bulk-unban') && licenses.some((license) => license.banned) && (
        <Button size="sm" onClick={() => onAction('bulk-unban')}>
          <CircleCheck />
          Unban
        </Button>
      )}
      <Menu
        side="top"
        trigger={
          <Button size="sm">
            <Download />
            Export
          </Button>
        }
      >
        <MenuItem onSelect={() => saveLicenses(licenses, 'csv')}>Selected as CSV</MenuItem>
        <MenuItem onSelect={() => saveLicenses(licenses, 'json')}>Selected as JSON</MenuItem>
      </Menu>
      {may('bulk-delete') && (
        <Button size="sm" variant="dangerGhost" onClick={() => onAction('bulk-delete')}>
          <Trash2 />
          Delete
        </Button>
      )}
    </SelectionBar>
  )
}
