import type { App } from '@keyward/contract'
import {
  Braces,
  Code,
  Copy,
  History,
  Pause,
  Pencil,
  Play,
  Settings,
  ShieldBan,
  Tag,
  Tags,
  Trash2,
} from 'lucide-react'
import { useNavigate } from 'react-router'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { useAppDialog } from './app-dialogs.tsx'
import { useTogglePause } from './queries.ts'

export function AppMenu({ app }: { app: App }) {
  const dialog = useAppDialog()
  const togglePause = useTogglePause()
  const navigate = useNavigate()
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
      <MenuItem icon={<Code />} onSelect={() => dialog.open('integrate', app._id)}>
        Integration
      </MenuItem>
      <MenuItem icon={<Tags />} onSelect={() => dialog.open('license-types', app._id)}>
        License Types
      </MenuItem>
      {dialog.may('variables') && (
        <MenuItem icon={<Braces />} onSelect={() => dialog.open('variables', app._id)}>
          Variables
        </MenuItem>
      )}
      <MenuItem icon={<Tag />} onSelect={() => dialog.open('releases', app._id)}>
        Releases
      </MenuItem>
      {dialog.may('app-settings') && (
        <MenuItem icon={<Settings />} onSelect={() => dialog.open('app-settings', app._id)}>
          App Settings
        </MenuItem>
      )}
      <MenuItem icon={<ShieldBan />} onSelect={() => dialog.open('blocking', app._id)}>
        Blocking
      </MenuItem>
      <MenuItem icon={<History />} onSelect={() => void navigate(`${paths.activity}?app=${app._id}`)}>
        Activity
      </MenuItem>
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
