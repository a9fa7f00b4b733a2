import { limits } from '@keyward/contract'
import { TriangleAlert } from 'lucide-react'
import { Link } from 'react-router'
import { useDraft } from '../../lib/form/drafts.ts'
import { webhookPath } from '../../lib/navigation/paths.ts'
import { OnceDialog } from '../../ui/confirm-dialog.tsx'
import { CopyButton, CopyField } from '../../ui/copy-button.tsx'
import { DoneFooter } from '../../ui/dialog.tsx'
import { DialogResult } from '../../ui/dialog-result.tsx'
import { Callout } from '../../ui/states.tsx'
import type { ShownSecret } from './queries.ts'

export interface SecretDialogProps {
  shown: ShownSecret | undefined
  onRestore: (shown: ShownSecret) => void
  onClose: () => void
}

/** Shows a secret once. Renders nothing without one, but restores one that was open when the session expired. */
export function SecretDialog({ shown, onRestore, onClose }: SecretDialogProps) {
  useDraft<ShownSecret | null>({
    name: 'secret',
    opened: null,
    read: () => shown ?? null,
    restore: (kept) => kept && onRestore(kept),
  })
  if (!shown) return null
  const { webhook, secret, rotated } = shown
  return (
    <OnceDialog
      title={rotated ? 'Secret Rotated' : 'Webhook Created'}
      description={webhook.url}
      question={[
        'Close the secret?',
        'You cannot see it again. If you did not save it, rotate it to get another one.',
      ]}
      onClose={onClose}
    >
      <DialogResult>
        <Callout tone="warning" icon={<TriangleAlert aria-hidden />}>
          The secret is shown only once.{' '}
          {rotated
            ? `Give it to your receiver within ${limits.webhookRotationHours} hours: until then the one before signs too.`
            : 'Your receiver needs it to tell our requests from forged ones.'}
        </Callout>
        <CopyField label="Signing secret" value={secret} />
        <p className="text-[0.8125rem] text-fg-muted">
          <Link
            to={`${webhookPath(webhook._id)}?view=verify`}
            onClick={onClose}
            className="text-accent-text underline"
          >
            Verify signatures
          </Link>{' '}
          shows how, in Node, Python and PHP.
        </p>
      </DialogResult>
      <DoneFooter onDone={onClose}>
        <CopyButton text={secret} label="Copy secret">
          Copy secret
        </CopyButton>
      </DoneFooter>
    </OnceDialog>
  )
}
