import type { Client } from '@keyward/contract'
import { Ban, CalendarPlus, CircleCheck, MonitorSmartphone, Trash2 } from 'lucide-react'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
import { ChooseAllButton, type ChooseAllProps } from '../../ui/choose-all.tsx'
import { DialogSlot } from '../../ui/deferred.tsx'
import { SelectionBar } from '../../ui/selection-bar.tsx'

const BulkEndUsersDialog = lazyNamed(() => import('./bulk-dialogs.tsx'), 'BulkEndUsersDialog')
const actions = {
  'bulk-extend': 'extend',
  'bulk-ban': 'ban',
  'bulk-unban': 'unban',
  'bulk-reset-hwid': 'reset-hwid',
  'bulk-delete': 'delete',
} as const
type EndUserBulk = keyof typeof actions

export interface EndUserSelectionProps {
  users: Client[]
  onSelect: (ids: string[]) => void
  /** Set while all rows of the page are selected and others match the filters. */
  all?: ChooseAllProps<Client> | undefined
  dialog: EndUserBulk | undefined
  may: (dialog: EndUserBulk) => boolean
  onOpen: (dialog: EndUserBulk) => void
  onClose: () => void
}

/** The actions for the selected end users. */
export function EndUserSelection(props: EndUserSelectionProps) {
  const { users, onSelect, all, dialog, may, onOpen, onClose } = props
  return (
    <>
      {users.length > 0 && (
        <Bar users={users} all={all} may={may} onAction={onOpen} onClear={() => onSelect([])} />
      )}
      {dialog && (
        <DialogSlot>
          <BulkEndUsersDialog
            key={dialog}
            action={actions[dialog]}
            users={users}
            onSelect={onSelect}
            onClose={onClose}
          />
        </DialogSlot>
      )}
    </>
  )
}

interface BarProps {
  all: ChooseAllProps<Client> | undefined
  users: Client[]
  may: (dialog: EndUserBulk) => boolean
  onAction: (dialog: EndUserBulk) => void
  onClear: () => void
}

function Bar({ users, all, may, onAction, onClear }: BarProps) {
  return (
    <SelectionBar
      text={`${amountOf(users.length, 'end user')} selected`}
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
      {may('bulk-ban') && users.some(({ ban }) => !ban) && (
        <Button size="sm" onClick={() => onAction('bulk-ban')}>
          <Ban />
          Ban
        </Button>
      )}
      {may('bulk-unban') && users.some(({ ban }) => ban) && (
        <Button size="sm" onClick={() => onAction('bulk-unban')}>
          <CircleCheck />
          Unban
        </Button>
      )}
      {may('bulk-reset-hwid') && (
        <Button size="sm" onClick={() => onAction('bulk-reset-hwid')}>
          <MonitorSmartphone />
          Reset HWID
        </Button>
      )}
    </SelectionBar>
  )
}
