import type { Client } from '@keyward/contract'
import { Ban, CalendarPlus, CircleCheck, MonitorSmartphone, Trash2 } from 'lucide-react'
import { amountOf } from '../../lib/format/words.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Button } from '../../ui/button.tsx'
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
  dialog: EndUserBulk | undefined
  onOpen: (dialog: EndUserBulk) => void
  onClose: () => void
}

/** The actions for the selected end users. */
export function EndUserSelection({ users, onSelect, dialog, onOpen, onClose }: EndUserSelectionProps) {
  return (
    <>
      {users.length > 0 && <Bar users={users} onAction={onOpen} onClear={() => onSelect([])} />}
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
  users: Client[]
  onAction: (dialog: EndUserBulk) => void
  onClear: () => void
}

function Bar({ users, onAction, onClear }: BarProps) {
  return (
    <SelectionBar text={`${amountOf(users.length, 'end user')} selected`} onClear={onClear}>
      <Button size="sm" onClick={() => onAction('bulk-extend')}>
        <CalendarPlus />
        Extend
      </Button>
      {users.some(({ ban }) => !ban) && (
        <Button size="sm" onClick={() => onAction('bulk-ban')}>
          <Ban />
          Ban
        </Button>
      )}
      {users.some(({ ban }) => ban) && (
        <Button size="sm" onClick={() => onAction('bulk-unban')}>
          <CircleCheck />
          Unban
        </Button>
      )}
      <Button size="sm" onClick={() => onAction('bulk-reset-hwid')}>
        <MonitorSmartphone />
        Reset HWID
      </Button>
      <Button size="sm" variant="dangerGhost" onClick={() => onAction('bulk-delete')}>
        <Trash2 />
        Delete
      </Button>
    </SelectionBar>
  )
}
