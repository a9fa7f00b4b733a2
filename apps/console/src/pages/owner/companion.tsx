import { type User, unlimited } from '@keyward/contract'
import { useQueryClient } from '@tanstack/react-query'
import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLogout } from '../../features/account/session.ts'
import { useApps } from '../../features/apps/queries.ts'
import { CommandCenter } from '../../features/command/command-center.tsx'
import { keepLive } from '../../lib/live.ts'
import { ownerSession, useToken } from '../../lib/session.ts'

/** What goes along with every page of the console once that is on the screen: live figures, shortcuts, the palette. */
export function Companion({ owner }: { owner: User }) {
  const client = useQueryClient()
  const token = useToken(ownerSession)
  const apps = useApps().data ?? owner.apps
  const logout = useLogout()

  const [lost, setLost] = useState(false)

  useEffect(() => (token === null ? undefined : keepLive(client, setLost)), [client, token])

  return (
    <>
      <ConnectionBadge lost={lost} />
      <CommandCenter
        apps={apps}
        canCreateApp={owner.maxApps === unlimited || apps.length < owner.maxApps}
        onLogout={logout}
      />
    </>
  )
}

/** Said once for the whole console, in the way of nothing: a toast that stays would cover the menu of a phone. */
function ConnectionBadge({ lost }: { lost: boolean }) {
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-4 bottom-[calc(1rem+env(safe-area-inset-bottom))] z-30 flex justify-center"
    >
      {lost && (
        <p className="flex animate-rise items-center gap-2 rounded-full border border-warning-line bg-warning-soft px-4 py-2 font-medium text-[0.8125rem] text-warning-text shadow-pop">
          <WifiOff aria-hidden className="size-4 shrink-0" />
          Connection lost. Reconnecting…
        </p>
      )}
    </div>
  )
}
