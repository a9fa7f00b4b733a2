import type { App } from '@keyward/contract'
import { May } from '../../../lib/api/rights.tsx'
import { wire } from '../../../lib/api/wire.ts'
import { AppSettings } from './app-settings.tsx'
import { Blocklist } from './blocklist.tsx'
import { SigningKeys } from './signing-keys.tsx'

/** Who may run the programs of an app, and what they trust. */
export function SettingsTab({ app }: { app: App }) {
  return (
    <div className="grid gap-4 md:gap-6">
      <May call={wire.apps.update}>
        <AppSettings app={app} />
      </May>
      <Blocklist app={app} />
      <SigningKeys app={app} />
    </div>
  )
}
