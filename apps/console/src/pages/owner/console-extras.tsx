import { type User, unlimited } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useLogout } from '../../features/account/session.ts'
import { useApps } from '../../features/apps/queries.ts'
import { CommandCenter } from '../../features/command/command-center.tsx'
import { setOpened, useCommand } from '../../features/command/opened.ts'
import { placeOf } from '../../lib/api/account.ts'
import { keepLive } from '../../lib/api/live.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { ownerSession, useToken } from '../../lib/api/session.ts'
import { lazyNamed } from '../../lib/navigation/lazy.ts'
import { Deferred } from '../../ui/deferred.tsx'

const TicketDialog = lazyNamed(() => import('./ticket-dialog.tsx'), 'TicketDialog')
const closeTicket = () => setOpened(undefined)

/** Live updates, shortcuts and the palette, loaded after the page itself. */
export function ConsoleExtras({ owner, onToggleSidebar }: { owner: User; onToggleSidebar: () => void }) {
  const client = useQueryClient()
  const token = useToken(ownerSession)
  const apps = useApps().data ?? owner.apps
  const logout = useLogout()
  const may = useMay()
  const { opened, text } = useCommand()

  useEffect(() => (token === null ? undefined : keepLive(client)), [client, token])

  return (
    <>
      <CommandCenter
        apps={apps}
        canCreateApp={owner.maxApps === unlimited || apps.length < owner.maxApps}
        may={may}
        place={placeOf(owner)}
        onToggleSidebar={onToggleSidebar}
        onLogout={logout}
      />
      {opened === 'ticket' && (
        <Deferred onFail={closeTicket}>
          <TicketDialog mail={text} own={owner.email} onClose={closeTicket} />
        </Deferred>
      )}
    </>
  )
}
