import type { EventNoun } from '@keyward/contract'
import type { VendorActor } from '../../core/actor.ts'
import { Problem } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { listApiKeys } from '../api-keys/api-keys.service.ts'
import { readApp } from '../apps/apps.service.ts'
import { findBlock } from '../blocklist/blocklist.service.ts'
import { listEndUserDevices } from '../end-users/end-users.devices.ts'
import { getEndUser } from '../end-users/end-users.service.ts'
import { listLicenseTypes } from '../license-types/license-types.service.ts'
import { getLicense } from '../licenses/licenses.service.ts'
import { listMembers } from '../members/members.service.ts'
import { getOwner } from '../owners/owners.service.ts'
import { listPayments } from '../payments/payments.service.ts'
import { getSubscription } from '../payments/subscription.service.ts'
import { getSettings } from '../platform/platform.service.ts'
import { listReleases } from '../releases/releases.service.ts'
import { getReseller } from '../resellers/resellers.service.ts'
import { getOrder } from '../shops/orders.service.ts'
import { getShop } from '../shops/shops.service.ts'
import { listWebhooks } from './webhooks.service.ts'

/** What an event is about, and who reads it. */
interface Question {
  ctx: Ctx
  maker: VendorActor
  id: string
  appId: string
  detail: Readonly<Record<string, unknown>>
}

const withoutSecrets = ({ permissions }: VendorActor) =>
  new Set([...permissions].filter((permission) => permission !== 'secrets:read'))

type Read = (question: Question) => Promise<object | undefined>

const byId = <T extends { _id: string }>(all: readonly T[], id: string): T | undefined =>
  all.find(({ _id }) => _id === id)

const readEndUser: Read = ({ ctx, maker, id }) => getEndUser(ctx, maker, id)
const readSubscription: Read = async ({ ctx, maker }) => getSubscription(ctx, await getOwner(ctx.db, maker))

/** What the API shows its reader of an event's object; null where no call shows one. */
const readers: Readonly<Record<EventNoun, Read | null>> = {
  // Whoever may read it looks the secret up: what is delivered is stored in places that nobody here knows.
  app: async ({ ctx, maker, id }) => ({ ...(await readApp(ctx, maker, id)), appSecret: null }),
  license_type: async ({ ctx, maker, id, appId }) => byId(await listLicenseTypes(ctx, maker, appId), id),
  release: async ({ ctx, maker, id, appId }) => byId(await listReleases(ctx, maker, appId), id),
  license: ({ ctx, maker, id }) => getLicense(ctx, maker, id),
  end_user: readEndUser,
  program: readEndUser,
  device: async ({ ctx, maker, id, detail }) =>
    byId((await listEndUserDevices(ctx, maker, String(detail.endUserId))).devices, id),
  block: ({ ctx, maker, id }) => findBlock(ctx, maker, id),
  reseller: ({ ctx, maker, id }) => getReseller(ctx, maker, id),
  member: async ({ ctx, maker, id }) => byId(await listMembers(ctx, maker), id),
  settings: ({ ctx, maker }) => getSettings(ctx.db, maker),
  plan: readSubscription,
  payment: async ({ ctx, maker, id }) => byId(await listPayments(ctx.db, maker), id),
  // As for the app: whoever may read the secret in it looks it up.
  shop: ({ ctx, maker, id }) => getShop(ctx, { ...maker, permissions: withoutSecrets(maker) }, id),
  shop_order: ({ ctx, maker, id }) => getOrder(ctx, maker, id),
  webhook: async ({ ctx, maker, id }) => {
    const webhook = byId(await listWebhooks(ctx, maker), id)
    // Its path can hold a token, which is no business of the receivers of other webhooks.
    return webhook && { ...webhook, url: new URL(webhook.url).origin }
  },
  // Only the owner may list them.
  api_key: async ({ ctx, maker, id }) =>
    maker.isOwner && maker.kind !== 'api_key' ? byId(await listApiKeys(ctx, maker), id) : undefined,
  // These concern many objects, or nothing that a call shows.
  licenses: null,
  // It needs a right to write, which no reader of events has to have.
  import: null,
  end_users: null,
  api_keys: null,
  // An erasure must find no address in what was delivered.
  customer: null,
  order: null,
  platform: null,
  notifications: null,
  owner: null,
  vendor: null,
}

/** The object of an event as the API shows it to the maker of a webhook, without secrets; null if it is gone. */
export async function readObject(noun: EventNoun, question: Question): Promise<object | null> {
  try {
    return (await readers[noun]?.(question)) ?? null
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return null
    throw error
  }
}
