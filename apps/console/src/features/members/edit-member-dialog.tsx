import type { Member } from '@keyward/contract'
import { type FormEvent, useState } from 'react'
import { useDraft } from '../../lib/form/drafts.ts'
import { Dialog, DialogBody, DialogForm, FormFooter } from '../../ui/dialog.tsx'
import { nameOf, useUpdateMember } from './queries.ts'
import { AppsField, RoleField } from './rights-fields.tsx'

interface EditMemberDialogProps {
  member: Member
  onClose: () => void
}

export function EditMemberDialog({ member, onClose }: EditMemberDialogProps) {
  const update = useUpdateMember()
  const [opened] = useState({ role: member.role, apps: member.apps })
  const [rights, setRights] = useState(opened)
  const [tried, setTried] = useState(false)
  useDraft({ opened, read: () => rights, restore: setRights })
  const isEmpty = rights.apps?.length === 0

  function submit(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (!isEmpty && !update.isPending) update.mutate({ id: member._id, ...rights }, { onSuccess: onClose })
  }
  return (
    <Dialog
      onClose={onClose}
      busy={update.isPending}
      title={`Rights of ${nameOf(member)}`}
      description="A change applies at once, in open windows too."
    >
      <DialogForm onSubmit={submit}>
        <DialogBody>
          <RoleField value={rights.role} onChange={(role) => setRights({ ...rights, role })} />
          <AppsField
            value={rights.apps}
            onChange={(apps) => setRights({ ...rights, apps })}
            error={tried && isEmpty ? 'Please choose at least one application' : undefined}
          />
        </DialogBody>
        <FormFooter submitLabel="Save" busy={update.isPending} onCancel={onClose} />
      </DialogForm>
    </Dialog>
  )
}
