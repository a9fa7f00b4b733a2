import type { Webhook } from '@keyward/contract'
import { Pause, Pencil, Play, RefreshCw, Trash2 } from 'lucide-react'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { useUpdateWebhook } from './queries.ts'
import { hostOf } from './state.ts'
import { useWebhookDialog, type WebhookDialogKind } from './webhook-dialogs.tsx'

/** What one may do with a webhook; nothing for people who may only read. */
export function WebhookMenu({ webhook }: { webhook: Webhook }) {
  const dialog = useWebhookDialog()
  const resume = useUpdateWebhook('Webhook resumed')
  const may = useMay()
  if (!may(wire.webhooks.update)) return null
  const open = (kind: WebhookDialogKind) => () => dialog.open(kind, webhook._id)
  return (
    <Menu label={`Actions for ${hostOf(webhook)}`}>
      <MenuItem icon={<Pencil />} onSelect={open('edit')}>
        Edit
      </MenuItem>
      {webhook.format === 'standard' && (
        <MenuItem icon={<RefreshCw />} onSelect={open('rotate')}>
          Rotate Secret
        </MenuItem>
      )}
      {webhook.active ? (
        <MenuItem icon={<Pause />} onSelect={open('pause')}>
          Pause
        </MenuItem>
      ) : (
        <MenuItem icon={<Play />} onSelect={() => resume.mutate({ id: webhook._id, active: true })}>
          Resume
        </MenuItem>
      )}
      <MenuSeparator />
      <MenuItem icon={<Trash2 />} tone="danger" onSelect={open('delete')}>
        Delete
      </MenuItem>
    </Menu>
  )
}
