import { limits } from '@keyward/contract'
import { Link } from 'react-router'
import { hasCode, messageOf } from '../../lib/api/call.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { appTabPath } from '../../lib/navigation/app-tabs.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import type { EndUserDialogProps } from './confirm-dialogs.tsx'
import { useMailPassword } from './repairs.ts'

/** Mails an end user a link to choose a password, on the page of its app. */
export function MailPasswordDialog({ user, onClose }: EndUserDialogProps) {
  const mail = useMailPassword()
  const to = user.customer ? 'its customer' : user.email
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Mail Password Link"
      description={
        <>
          <bdi>{user.username}</bdi> chooses a new password on the page of {user.app.name}. The link goes to{' '}
          {to === null ? 'its email address' : <bdi className="wrap-anywhere">{to}</bdi>} and works once, for{' '}
          {limits.customerLinkMinutes} minutes. The present password works until then.
        </>
      }
      loss={mail.error && <Failure error={mail.error} app={user.app} />}
      confirmLabel="Mail Link"
      tone="neutral"
      busy={mail.isPending}
      onConfirm={() => mail.mutate(user, { onSuccess: onClose })}
    />
  )
}

function Failure({ error, app }: { error: Error; app: { _id: string; name: string } }) {
  const may = useMay()
  if (!hasCode(error, 'customer_page_off'))
    return <span role="alert">{messageOf(error, 'Failed to mail the link.')}</span>
  return (
    <span role="alert">
      {app.name} has no page on which to choose a password. Turn on “Customer Page” in{' '}
      {may(wire.profiles.getOfApp) ? (
        <Link to={appTabPath(app._id, 'customers')} className="font-medium underline underline-offset-4">
          the tab Customers of the app
        </Link>
      ) : (
        'the tab Customers of the app'
      )}
      , then mail the link.
    </span>
  )
}
