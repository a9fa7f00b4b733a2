import { useEffect, useMemo } from 'react'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'
import type { CommandFacts } from './commands.ts'
import { setOpened, useOpened } from './opened.ts'
import { useShortcuts } from './use-shortcuts.ts'

const Palette = lazyNamed(() => import('./palette.tsx'), 'Palette')
const ShortcutsDialog = lazyNamed(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog')

const close = () => setOpened(undefined)

/** Listens for shortcuts and shows the palette or the list of shortcuts. */
export function CommandCenter({ apps, canCreateApp, onLogout }: Omit<CommandFacts, 'onShortcuts'>) {
  const opened = useOpened()
  useShortcuts(apps.length > 0)
  useEffect(() => close, [])
  const facts = useMemo(
    () => ({ apps, canCreateApp, onLogout, onShortcuts: () => setOpened('shortcuts') }),
    [apps, canCreateApp, onLogout],
  )
  return (
    <Deferred onFail={close}>
      {opened === 'palette' && <Palette facts={facts} onClose={close} />}
      {opened === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </Deferred>
  )
}
