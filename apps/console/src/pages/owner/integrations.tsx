import { OtherWays } from '../../features/integrations/other-ways.tsx'
import { useCreateWebhookButton, WebhookList } from '../../features/webhooks/webhook-list.tsx'
import { SettingsHeader } from './settings-header.tsx'

export function IntegrationsPage() {
  return (
    <div className="grid gap-4 md:gap-6">
      <SettingsHeader
        title="Integrations"
        subtitle="Connect Keyward to your own server, your team's chat, scripts and agents."
        primary={useCreateWebhookButton({ first: false })}
      />
      <WebhookList />
      <OtherWays />
    </div>
  )
}
