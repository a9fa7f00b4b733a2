import type { App } from '@keyward/contract'
import {
  Braces,
  CalendarPlus,
  Code,
  Copy,
  History,
  MessageSquareText,
  Pause,
  Pencil,
  Play,
  Settings,
  ShieldBan,
  Tag,
  Tags,
  Trash2,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { type AppTabName, appTabPath, useAppTabs } from '../../lib/navigation/app-tabs.ts'
import { listPath, paths } from '../../lib/navigation/paths.ts'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { useAppDialog } from './app-dialogs.tsx'
import { useTogglePause } from './queries.ts'

const tabs: readonly { label: string; tab: AppTabName; icon: ReactNode }[] = [
  { label: 'Integration', tab: 'integration', icon: <Code /> },
  { label: 'License Types', tab: 'types', icon: <Tags /> },
  { label: 'Variables', tab: 'variables', icon: <Braces /> },
  { label: 'Releases', tab: 'releases', icon: <Tag /> },
  { label: 'Error Messages', tab: 'texts', icon: <MessageSquareText /> },
  { label: 'App Settings', tab: 'settings', icon: <Settings /> },
  { label: 'Blocking', tab: 'settings', icon: <ShieldBan /> },
]

export interface AppMenuProps {
  app: App
  /** The menu is on the page of the app, which shows the tabs itself. */
  onPage?: boolean
}

export function AppMenu({ app, onPage = false }: AppMenuProps) {
  const dialog = useAppDialog()
  const togglePause = useTogglePause((id) => dialog.open('pause-app', id))
  const navigate = useNavigate()
  const shown = useAppTabs().map(({ value }) => value)
  const secret = app.appSecret === null ? '' : `\nApp Secret: ${app.appSecret}`
  const details = `App ID: ${app.appId}${secret}\nVersion: ${app.version}`
  return (
    <Menu label={`Actions for ${app.name}`}>
      <May call={wire.apps.update}>
        <MenuItem
          icon={app.paused ? <Play /> : <Pause />}
          disabled={togglePause.isPending}
          onSelect={() => togglePause.mutate(app._id)}
        >
          {app.paused ? 'Resume App' : 'Pause App'}
        </MenuItem>
      </May>
      <MenuItem icon={<Copy />} onSelect={() => void copyText(details, 'App details copied to clipboard')}>
        Copy Details
      </MenuItem>
      {!onPage &&
        tabs
          .filter(({ tab }) => shown.includes(tab))
          .map(({ label, tab, icon }) => (
            <MenuItem key={label} icon={icon} onSelect={() => void navigate(appTabPath(app._id, tab))}>
              {label}
            </MenuItem>
          ))}
      <MenuItem icon={<History />} onSelect={() => void navigate(`${paths.activity}?app=${app._id}`)}>
        Activity
      </MenuItem>
      <May call={wire.bulk.licenses}>
        <MenuItem
          icon={<CalendarPlus />}
          onSelect={() => void navigate(listPath(paths.licenses, { app: app._id, dialog: 'extend-all' }))}
        >
          Extend Licenses…
        </MenuItem>
      </May>
      {dialog.may('edit-app') && (
        <MenuItem icon={<Pencil />} onSelect={() => dialog.open('edit-app', app._id)}>
          Edit App
        </MenuItem>
      )}
      {dialog.may('delete-app') && (
        <>
          <MenuSeparator />
          <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => dialog.open('delete-app', app._id)}>
            Delete App
          </MenuItem>
        </>
      )}
    </Menu>
  )
}
