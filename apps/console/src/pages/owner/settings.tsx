import { Bell, KeyRound, Monitor, Moon, Plug, Sun } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { DangerZone } from '../../features/platform/danger-zone.tsx'
import { PlatformSwitches } from '../../features/platform/platform-switches.tsx'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useTheme } from '../../lib/browser/theme.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Choice } from '../../ui/choice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

export function SettingsPage() {
  const { theme, setTheme } = useTheme()
  const may = useMay()
  return (
    <div className="grid w-full max-w-3xl gap-6">
      <PageHeader
        title="Settings"
        subtitle={
          may(wire.settings.update)
            ? 'Choose how the console looks and set options for all your applications.'
            : 'Choose how the console looks.'
        }
      />
      <Card>
        <CardHeader title="Theme" description="Saved in this browser. System follows your device." />
        <CardBody>
          <Choice
            label="Theme"
            value={theme}
            onChange={setTheme}
            className="max-w-md"
            options={[
              { value: 'light', label: 'Light', icon: <Sun aria-hidden /> },
              { value: 'dark', label: 'Dark', icon: <Moon aria-hidden /> },
              { value: 'system', label: 'System', icon: <Monitor aria-hidden /> },
            ]}
          />
        </CardBody>
      </Card>
      <May call={wire.settings.get}>
        <PlatformSwitches />
      </May>
      <May call={wire.apiKeys.list}>
        <Card>
          <CardHeader
            title="API Keys"
            description="Let your own scripts and services issue, extend and ban licenses."
            actions={
              <Button asChild>
                <Link to={paths.apiKeys}>
                  <KeyRound aria-hidden />
                  Manage API Keys
                </Link>
              </Button>
            }
          />
        </Card>
      </May>
      <May call={wire.notifications.get}>
        <Card>
          <CardHeader
            title="Notifications"
            description="Get a mail when keys run out, refusals rise or someone signs in to your account."
            actions={
              <Button asChild>
                <Link to={paths.notifications}>
                  <Bell aria-hidden />
                  Choose Mails
                </Link>
              </Button>
            }
          />
        </Card>
      </May>
      <div className="grid gap-4 md:grid-cols-2">
        <ComingSoon
          icon={<Plug aria-hidden />}
          title="Integrations"
          description="Connect Keyward to the other tools you use."
        />
      </div>
      <May call={wire.settings.reset}>
        <DangerZone />
      </May>
    </div>
  )
}

function ComingSoon({ icon, title, description }: { icon: ReactNode; title: string; description: string }) {
  return (
    <Card aria-disabled className="border-dashed bg-sunken/50 px-5 py-4 shadow-none">
      <div className="flex items-center gap-2.5 [&_svg]:size-4 [&_svg]:text-fg-muted">
        {icon}
        <h2 className="font-semibold text-fg-muted">{title}</h2>
        <Badge className="ml-auto">Coming Soon</Badge>
      </div>
      <p className="mt-1.5 text-[0.8125rem] text-fg-muted">{description}</p>
    </Card>
  )
}
