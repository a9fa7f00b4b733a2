import { ArrowLeft } from 'lucide-react'
import { Link } from 'react-router'
import { MailNotes } from '../../features/notifications/mail-notes.tsx'
import { NotificationSwitches } from '../../features/notifications/notification-switches.tsx'
import { useOwner } from '../../lib/api/account.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

export function NotificationsPage() {
  const owner = useOwner().data
  return (
    <div className="grid w-full max-w-3xl gap-6">
      <PageHeader
        title="Notifications"
        subtitle="Choose which mails you get. Each one says how to turn it off."
        actions={
          <Button asChild>
            <Link to={paths.settings}>
              <ArrowLeft aria-hidden />
              Settings
            </Link>
          </Button>
        }
      />
      <MailNotes />
      <NotificationSwitches vendorName={owner?.vendor.name} />
    </div>
  )
}
