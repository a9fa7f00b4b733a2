import type { endpoints, Fix, QueryInputOf, UndoRow } from '@keyward/contract'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { type Wire, wire } from '../../lib/api/wire.ts'
import { useWrite } from '../../lib/api/write.ts'
import { usePages } from '../../lib/list/pages.ts'
import { toastFailure } from '../../ui/failure-toast.tsx'
import { toast } from '../../ui/toast.tsx'
import { undoOption } from '../../ui/undo.ts'

export type ActivityQuery = QueryInputOf<typeof endpoints.activity.list>

export function useActivity(query: ActivityQuery, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.activity, query],
    meta: { failure: 'Failed to load activity' },
    queryFn: ({ signal }) => call(wire.activity.list, { query, signal }),
    enabled,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  })
}

/** The newest events, page by page. */
export function useActivityPages(query: ActivityQuery, enabled: boolean) {
  return usePages({
    queryKey: [...keys.activity, 'pages', query],
    failure: 'Failed to load activity',
    load: (page, signal) => call(wire.activity.list, { query: { ...query, page }, signal }),
    enabled,
  })
}

export function useExplanation(reference: string) {
  return useQuery({
    queryKey: [...keys.activity, 'explain', reference],
    queryFn: ({ signal }) => call(wire.activity.explain, { params: { reference }, signal }),
    staleTime: 0,
    retry: false,
  })
}

/** The newest refusal of a license, or of its end user; null for none. */
export function useLastRefusal(license: string | undefined) {
  const may = useMay()
  return useQuery({
    queryKey: [...keys.activity, 'last refusal', license],
    queryFn: async ({ signal }) => {
      const query = { license, code: 'any' as const, limit: 1 }
      return (await call(wire.activity.list, { query, signal })).events[0] ?? null
    },
    enabled: license !== undefined && may(wire.activity.list),
    staleTime: 5_000,
  })
}

/** The calls for many say how to undo them. */
const extension = (id: string) => ({ action: 'extend' as const, ids: [id], days: 30 })

type Undo = Omit<Parameters<typeof undoOption>[0], 'refresh'>

/** Returns how to undo an extension; other fixes have a button that takes them back. */
async function apply({ action, target: id, value }: Fix): Promise<Undo | undefined> {
  const params = { id }
  switch (action) {
    case 'resume_platform':
      await call(wire.settings.update, { body: { pauseApplications: false } })
      break
    case 'resume_app':
      await call(wire.apps.update, { params, body: { paused: false } })
      break
    case 'allow_hash': {
      const [version, hash] = JSON.parse(value ?? '[]') as [string, string]
      const { hashes } = await call(wire.blocklist.hashes, { params })
      await call(wire.blocklist.setHashes, {
        params,
        body: { hashes: [...hashes, { version, hash }], seen: { hashes } },
      })
      break
    }
    case 'unban_client':
      await call(wire.clients.toggleBan, { params, body: { is_banned: false } })
      break
    case 'unban_license':
      await call(wire.licenses.toggleBan, { params, body: { is_banned: false } })
      break
    case 'resume_client':
      await call(wire.clients.togglePause, { params, body: { paused: false } })
      break
    case 'extend_client': {
      const { undo } = await call(wire.bulk.clients, { body: extension(id) })
      const restore = (rows: UndoRow[]) => call(wire.bulk.undoClients, { body: { undo: rows } })
      return { rows: undo, restore, noun: 'end user' }
    }
    case 'extend_license': {
      const { undo } = await call(wire.bulk.licenses, { body: extension(id) })
      const restore = (rows: UndoRow[]) => call(wire.bulk.undoLicenses, { body: { undo: rows } })
      return { rows: undo, restore, noun: 'license' }
    }
    case 'unblock':
      await call(wire.blocklist.remove, { params })
      break
    case 'reset_hwid':
      await call(wire.clients.resetHwid, { params })
      break
    case 'allow_address': {
      const { app } = await call(wire.apps.get, { params })
      const before = app.settings.vpnAllowed
      const settings = { vpnAllowed: [...before, value ?? ''] }
      const seen = { settings: { vpnAllowed: before } }
      await call(wire.apps.update, { params, body: { settings, seen } })
      break
    }
  }
  return undefined
}

/** The calls that each fix makes. */
export const fixCalls: Record<Fix['action'], readonly Wire[]> = {
  resume_platform: [wire.settings.update],
  resume_app: [wire.apps.update],
  allow_hash: [wire.blocklist.hashes, wire.blocklist.setHashes],
  unban_client: [wire.clients.toggleBan],
  unban_license: [wire.licenses.toggleBan],
  resume_client: [wire.clients.togglePause],
  extend_client: [wire.bulk.clients],
  extend_license: [wire.bulk.licenses],
  unblock: [wire.blocklist.remove],
  reset_hwid: [wire.clients.resetHwid],
  allow_address: [wire.apps.get, wire.apps.update],
}

/** Removes the reason for a refusal, then explains refusals again. */
export function useFix() {
  const client = useQueryClient()
  return useWrite({
    mutationFn: apply,
    onSuccess: (undo) => {
      const explainAgain = () => void client.invalidateQueries({ queryKey: keys.activity })
      const restore = (rows: UndoRow[]) => undo!.restore(rows).finally(explainAgain)
      explainAgain()
      toast.success('Changed. The program can try again.', undo && undoOption({ ...undo, restore }))
    },
    onError: (error) => toastFailure(error, 'Failed to change this'),
  })
}
