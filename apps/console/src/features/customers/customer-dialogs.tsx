import type { Customer } from '@keyward/contract'
import { wire } from '../../lib/api/wire.ts'
import { useCallDialog } from '../../lib/navigation/call-dialog.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { DialogSlot } from '../../ui/deferred.tsx'

const formDialogs = () => import('./customer-form-dialog.tsx')
export const CreateCustomerDialog = lazyNamed(formDialogs, 'CreateCustomerDialog')
const EditCustomerDialog = lazyNamed(formDialogs, 'EditCustomerDialog')
const EraseDialog = lazyNamed(() => import('./erase-dialog.tsx'), 'EraseDialog')

const calls = { edit: [wire.customers.update], erase: [wire.customers.remove] }

export const useCustomerDialog = () => useCallDialog(calls)

export interface CustomerDialogProps {
  kind: string | undefined
  customer: Customer
  onClose: () => void
}

/** The dialogs about one customer. */
export function CustomerDialog({ kind, customer, onClose }: CustomerDialogProps) {
  return (
    <DialogSlot>
      {kind === 'edit' && <EditCustomerDialog key={customer._id} customer={customer} onClose={onClose} />}
      {kind === 'erase' && <EraseDialog customer={customer} onClose={onClose} />}
    </DialogSlot>
  )
}
