import { Bell, KeyRound, Monitor, Moon, Plug, Store, Sun } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { DangerZone } from '../../features/platform/danger-zone.tsx'
import { PlatformSwitches } from '../../features/platform/platform-switches.tsx'
import { May, useMay } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { useTheme } from '../../lib/browser/theme.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardBody, CardHeader } from '../../ui/card.tsx'
import { Choice } from '../../ui/choice.tsx'
import { Deferred } from '../../ui/deferred.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

const ProfileCard = lazyNamed(() => import('../../features/apps/customers/profile-card.tsx'), 'ProfileCard')

export function SettingsPage() {
  const { theme, setTheme } = useTheme()
  const may = useMay()
  const [query] = useSearchParams()
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
      <May call={wire.profiles.get}>
        {query.has('profile') ? (
          <Deferred fallback={<Skeleton className="h-96 rounded-xl" />}>
            <ProfileCard />
          </Deferred>
        ) : (
          <LinkCard
            title="Business Profile"
            description="The name, logo and help that customers and resellers see."
            to={`${paths.settings}?profile`}
            icon={<Store aria-hidden />}
            label="Open Profile"
          />
        )}
      </May>
      <May call={wire.apiKeys.list}>
        <LinkCard
          title="API Keys"
          description="Let your own scripts and services issue, extend and ban licenses."
          to={paths.apiKeys}
          icon={<KeyRound aria-hidden />}
          label="Manage API Keys"
        />
      </May>
      <May call={wire.notifications.get}>
        <LinkCard
          title="Notifications"
          description="Get a mail when keys run out, refusals rise or someone signs in to your account."
          to={paths.notifications}
          icon={<Bell aria-hidden />}
          label="Choose Mails"
        />
      </May>
      <May call={wire.webhooks.list}>
        <LinkCard
          title="Integrations"
          description="Connect Keyward to your server, your team's chat, scripts and agents."
          to={paths.integrations}
          icon={<Plug aria-hidden />}
          label="Set Up Integrations"
        />
      </May>
      <May call={wire.settings.reset}>
        <DangerZone />
      </May>
    </div>
  )
}

interface LinkCardProps {
  title: string
  description: string
  to: string
  icon: ReactNode
  label: string
}

function LinkCard({ title, description, to, icon, label }: LinkCardProps) {
  return (
    <Card>
      <CardHeader
        title={title}
        description={description}
        actions={
          <Button asChild>
            <Link to={to}>
              {icon}
              {label}
            </Link>
          </Button>
        }
      />
    </Card>
  )
}
