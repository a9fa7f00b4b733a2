import { ArrowLeft } from 'lucide-react'
import { Link } from 'react-router'
import { OtherWays } from '../../features/integrations/other-ways.tsx'
import { useCreateWebhookButton, WebhookList } from '../../features/webhooks/webhook-list.tsx'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

export function IntegrationsPage() {
  return (
    <div className="grid gap-3 md:gap-6">
      <PageHeader
        title="Integrations"
        subtitle="Connect Keyward to your own server, your team's chat, scripts and agents."
        actions={
          <Button asChild>
            <Link to={paths.settings}>
              <ArrowLeft aria-hidden />
              Settings
            </Link>
          </Button>
        }
        primary={useCreateWebhookButton({ first: false })}
      />
      <WebhookList />
      <OtherWays />
    </div>
  )
}
