import type { User } from '@keyward/contract'
import { queryOptions, useQueries } from '@tanstack/react-query'
import { call } from '../../lib/api/call.ts'
import { licenseTypesQuery } from '../../lib/api/license-types.ts'
import { keys } from '../../lib/api/query-keys.ts'
import { useMay } from '../../lib/api/rights.tsx'
import { shopsQuery } from '../../lib/api/shops.ts'
import { type Wire, wire } from '../../lib/api/wire.ts'
import { appTabPath } from '../../lib/navigation/app-tabs.ts'
import { paths } from '../../lib/navigation/paths.ts'
import { dismissStep, useDismissedSteps } from './done.ts'
import type { Step } from './step-card.tsx'

/** A step looks for what completes it in the newest apps. */
const appsMax = 5

const offlineQuery = (app: string) =>
  queryOptions({
    queryKey: [...keys.clients, 'offline-activations', app, 'any'],
    queryFn: async ({ signal }) =>
      (await call(wire.offlineActivations.list, { params: { id: app }, query: { limit: 1 }, signal }))
        .pagination.total > 0,
  })

export interface NextStepsOptions {
  owner: User
  /** Newest first. */
  apps: readonly { _id: string }[]
  hasReseller: boolean
  /** Whether a program was activated, so that these steps come next. */
  enabled: boolean
}

/**
 * What a vendor does after the first activation, as far as the plan and the rights of the person allow it. `steps` is
 * undefined when it is unknown what is done.
 */
export function useNextSteps({ owner, apps, hasReseller, enabled }: NextStepsOptions): {
  steps?: Step[]
  /** The first try to load what is done has not ended. */
  pending: boolean
} {
  const may = useMay()
  const ownerId = owner.vendor._id
  const dismissed = useDismissedSteps(ownerId)
  const ids = apps.slice(0, appsMax).map(({ _id }) => _id)
  const app = ids[0]
  const open = (id: string, ...calls: readonly Wire[]) =>
    enabled && app !== undefined && !dismissed.includes(id) && may(...calls)
  const offersTypes = open('type', wire.licenseTypes.list, wire.licenseTypes.create)
  const offersOffline = open('offline', wire.offlineActivations.list, wire.offlineActivations.activate)
  const offersShop = open('shop', wire.shops.list, wire.shops.create)
  const types = useQueries({ queries: offersTypes ? ids.map(licenseTypesQuery) : [] })
  const machines = useQueries({ queries: offersOffline ? ids.map(offlineQuery) : [] })
  const shops = useQueries({ queries: offersShop ? ids.map(shopsQuery) : [] })
  const queries = [...types, ...machines, ...shops]
  const pending = queries.some((query) => query.isPending && query.failureCount === 0)
  if (!enabled || app === undefined || queries.some(({ data }) => data === undefined)) return { pending }

  const steps: (Step & { id: string; offered: boolean })[] = [
    {
      id: 'type',
      offered: offersTypes,
      title: 'Create a license type',
      text: 'What you sell: the term, the devices and the features of each license.',
      done: types.some(({ data }) => data && data.length > 0),
      to: `${appTabPath(app, 'types')}&dialog=new-type`,
      action: 'New Type',
    },
    {
      id: 'shop',
      offered: offersShop,
      title: 'Connect your shop',
      text: 'Each paid order creates its licenses, and a refund bans them.',
      done: shops.some(({ data }) => data && data.length > 0),
      to: `${appTabPath(app, 'shops')}&dialog=new-shop`,
      action: 'Add Shop',
    },
    {
      id: 'reseller',
      offered: owner.plan !== 'free' && open('reseller', wire.resellers.create),
      title: 'Add a reseller',
      text: 'A reseller generates licenses in a portal, within a limit that you set.',
      done: hasReseller,
      to: `${paths.resellers}?dialog=create`,
      action: 'Add Reseller',
    },
    {
      id: 'offline',
      offered: offersOffline,
      title: 'Activate a machine that is never online',
      text: 'It shows a request. You make the file with which it runs.',
      done: machines.some(({ data }) => data),
      to: `${appTabPath(app, 'settings')}&dialog=activate-offline`,
      action: 'Activate Offline',
    },
  ]
  return {
    steps: steps
      .filter(({ offered }) => offered)
      .map(({ id, offered: _, ...step }) => ({ ...step, onDismiss: () => dismissStep(ownerId, id) })),
    pending,
  }
}
