import { MailNotes } from '../../features/notifications/mail-notes.tsx'
import { NotificationSwitches } from '../../features/notifications/notification-switches.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { SettingsHeader } from './settings-header.tsx'

export function NotificationsPage() {
  const owner = useOwner().data
  return (
    <div className="grid w-full max-w-3xl gap-6">
      <SettingsHeader
        title="Notifications"
        subtitle="Choose which mails you get. Each one says how to turn it off."
      />
      <MailNotes />
      <NotificationSwitches vendorName={owner?.vendor.name} />
    </div>
  )
}
