import { useEffect, useMemo } from 'react'
import { toPolicyLinks, usePublicConfig } from '../../lib/api/public-config.ts'
import { ownerSession } from '../../lib/api/session.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'
import type { CommandFacts } from './commands.ts'
import { setOpened, useCommand } from './opened.ts'
import { forgetRecent } from './recent.ts'
import { useShortcuts } from './use-shortcuts.ts'

const Palette = lazyNamed(() => import('./palette.tsx'), 'Palette')
const ShortcutsDialog = lazyNamed(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog')

const close = () => setOpened(undefined)

/** Listens for shortcuts and shows the palette or the list of shortcuts. */
export function CommandCenter(props: Omit<CommandFacts, 'onShortcuts' | 'links'>) {
  const { apps, canCreateApp, may, place, onToggleSidebar, onLogout } = props
  const { opened, place: list } = useCommand()
  const config = usePublicConfig()
  useShortcuts(apps.length > 0, may)
  useEffect(
    () => () => {
      close()
      if (ownerSession.signedOutByUser()) forgetRecent(place)
    },
    [place],
  )
  const facts = useMemo(
    () => ({
      apps,
      canCreateApp,
      may,
      place,
      links: toPolicyLinks(config),
      onToggleSidebar,
      onLogout,
      onShortcuts: () => setOpened('shortcuts'),
    }),
    [apps, canCreateApp, may, place, config, onToggleSidebar, onLogout],
  )
  return (
    <Deferred onFail={close}>
      {opened === 'palette' && list && <Palette facts={facts} list={list} />}
      {opened === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </Deferred>
  )
}
