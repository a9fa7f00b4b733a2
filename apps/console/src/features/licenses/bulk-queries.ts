import type { BulkLicenseAction, License } from '@keyward/contract'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { call } from '../../lib/api.ts'
import { changeInBatches } from '../../lib/bulk.ts'
import { useBulk } from '../../lib/use-bulk.ts'
import { wire } from '../../lib/wire.ts'
import { amountOf } from '../../lib/words.ts'
import { toast } from '../../ui/toast.tsx'
import { refreshLicenses } from './queries.ts'

const successTitles: Record<BulkLicenseAction, string> = {
  extend: 'Licenses Extended',
  ban: 'Licenses Banned',
  unban: 'Licenses Unbanned',
  delete: 'Licenses Deleted',
}

export function useBulkLicenses(action: BulkLicenseAction) {
  const client = useQueryClient()
  const { run, ...state } = useBulk<License>(() => refreshLicenses(client))
  const change = (licenses: License[], days?: number) =>
    run({
      rows: licenses,
      change: (rows) => call(wire.bulk.licenses, { body: { action, ids: rows.map(({ _id }) => _id), days } }),
    })
  /** What was done, and the way back where there is one. */
  const say = (licenses: License[], days?: number) => tell(client, action, licenses, days)
  return { ...state, change, say }
}

function tell(client: QueryClient, action: BulkLicenseAction, licenses: License[], days = 0) {
  const amount = amountOf(licenses.length, 'license')
  const undo = undoOf(action, licenses)
  const said: Record<BulkLicenseAction, string> = {
    extend: `${amount} got ${amountOf(days, 'more day')}.`,
    ban: `Programs that use ${licenses.length === 1 ? 'it' : 'them'} are refused from now on: ${amount}.`,
    unban: `${amount} can be used again.`,
    delete: `${amount} permanently deleted.`,
  }
  toast.success(successTitles[action], {
    description: said[action],
    ...(undo && {
      duration: 10_000,
      action: { label: 'Undo', onClick: () => void putBack(client, licenses, undo) },
    }),
  })
}

type Undo = Pick<Parameters<typeof changeInBatches<License>>[0], 'change' | 'batchSize'>

/**
 * What takes a change back, where the server can put back exactly what was: an expiry in the past cannot be set again,
 * and what is deleted is gone.
 */
function undoOf(action: BulkLicenseAction, licenses: License[]): Undo | undefined {
  if (action === 'ban' || action === 'unban') {
    const opposite = action === 'ban' ? 'unban' : 'ban'
    return {
      batchSize: 200,
      change: (rows) =>
        call(wire.bulk.licenses, { body: { action: opposite, ids: rows.map(({ _id }) => _id) } }),
    }
  }
  if (action === 'extend' && licenses.every(({ expiresAt }) => Date.parse(expiresAt) > Date.now() + 60_000)) {
    return {
      batchSize: 1,
      change: async ([license]) =>
        license &&
        call(wire.licenses.update, {
          params: { id: license._id },
          body: { expiresAt: license.expiresAt },
        }),
    }
  }
  return undefined
}

async function putBack(client: QueryClient, licenses: License[], undo: Undo) {
  const id = toast.loading('Undoing', { description: amountOf(licenses.length, 'license') })
  const { done, failed } = await changeInBatches({ rows: licenses, ...undo })
  refreshLicenses(client)
  if (failed.length === 0) {
    toast.success('Undone', { id, description: `${amountOf(done.length, 'license')} as before.` })
  } else {
    toast.error('Undo Failed', {
      id,
      description: `${failed.length} of ${amountOf(licenses.length, 'license')} could not be put back: ${failed[0]?.why}`,
    })
  }
}
