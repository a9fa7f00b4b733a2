import type { Customer } from '@keyward/contract'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useEraseCustomer } from './queries.ts'

const erased = [
  'The customer with its address, name and note',
  'Its end users, those of its licenses too, with their passwords, devices and sessions',
  'Mails to it, and what the activity log, the audit log and webhooks say about it',
]
const kept = [
  'Its licenses, which become unused: anyone who has a key can use it again',
  'Its orders, without address and name',
  'Blocked devices and addresses, and backups that were made before',
]

export function EraseDialog({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const erase = useEraseCustomer()
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Erase Customer"
      description={
        <>
          <strong className="break-all font-semibold text-fg">{customer.email}</strong> is erased everywhere.
          Export the customer first if the person asks for a copy.
        </>
      }
      loss="This cannot be undone. Programs sign the person out and refuse the account."
      typed={customer.email}
      confirmLabel="Erase Customer"
      busy={erase.isPending}
      onConfirm={() => erase.mutate(customer, { onSuccess: onClose })}
    >
      <Parts title="What is erased" parts={erased} />
      <Parts title="What stays" parts={kept} />
    </ConfirmDialog>
  )
}

function Parts({ title, parts }: { title: string; parts: string[] }) {
  return (
    <div>
      <p className="font-medium">{title}</p>
      <ul className="mt-1 grid list-disc gap-1 pl-5 text-fg-muted">
        {parts.map((part) => (
          <li key={part}>{part}</li>
        ))}
      </ul>
    </div>
  )
}
