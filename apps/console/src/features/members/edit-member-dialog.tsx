import type { Member } from '@keyward/contract'
import { type FormEvent, useState } from 'react'
import { useDraft } from '../../lib/form/drafts.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { nameOf, useUpdateMember } from './queries.ts'
import { AppsField, lacksOf, RoleFields } from './rights-fields.tsx'

export function EditMemberDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const update = useUpdateMember()
  const [opened] = useState({
    role: member.role,
    permissions: member.permissions ?? undefined,
    apps: member.apps,
  })
  const [rights, setRights] = useState(opened)
  const [tried, setTried] = useState(false)
  useDraft({ opened, read: () => rights, restore: setRights })
  const isEmpty = rights.apps?.length === 0
  const lacks = lacksOf(rights)

  function submit(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (!isEmpty && lacks === undefined && !update.isPending)
      update.mutate({ id: member._id, ...rights }, { onSuccess: onClose })
  }
  return (
    <FormDialog
      onClose={onClose}
      busy={update.isPending}
      title={`Rights of ${nameOf(member)}`}
      description="A change applies at once, in open windows too."
      onSubmit={submit}
      submitLabel="Save"
    >
      <RoleFields
        value={rights}
        onChange={({ role, permissions }) => setRights({ ...rights, role, permissions })}
        error={tried ? lacks : undefined}
      />
      <AppsField
        value={rights.apps}
        onChange={(apps) => setRights({ ...rights, apps })}
        error={tried && isEmpty ? 'Please choose at least one application' : undefined}
      />
    </FormDialog>
  )
}
