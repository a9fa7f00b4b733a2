import type { License } from '@keyward/contract'
import { Ban, CalendarPlus, CircleCheck, Download, Trash2 } from 'lucide-react'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { ChooseAllButton, type ChooseAllProps } from '../../ui/choose-all.tsx'
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
  /** Set while all rows of the page are selected and others match the filters. */
  all?: ChooseAllProps<License> | undefined
  dialog: LicenseBulk | undefined
  may: (dialog: LicenseBulk) => boolean
  onOpen: (dialog: LicenseBulk) => void
  onClose: () => void
}

/** The actions for the selected licenses. */
export function LicenseSelection(props: LicenseSelectionProps) {
  const { licenses, onSelect, all, dialog, may, onOpen, onClose } = props
  return (
    <>
      {licenses.length > 0 && (
        <Bar licenses={licenses} all={all} may={may} onAction={onOpen} onClear={() => onSelect([])} />
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
  all: ChooseAllProps<License> | undefined
  licenses: License[]
  may: (dialog: LicenseBulk) => boolean
  onAction: (dialog: LicenseBulk) => void
  onClear: () => void
}

function Bar({ licenses, all, may, onAction, onClear }: BarProps) {
  return (
    <SelectionBar
      text={`${amountOf(licenses.length, 'license')} selected`}
      onClear={onClear}
      danger={
        may('bulk-delete') && (
          <Button size="sm" variant="dangerGhost" onClick={() => onAction('bulk-delete')}>
            <Trash2 />
            Delete
          </Button>
        )
      }
    >
      {all && <ChooseAllButton {...all} />}
      {may('bulk-extend') && (
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
    </SelectionBar>
  )
}
