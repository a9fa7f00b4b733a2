import { limits } from '@keyward/contract'
import type { Owner } from './actors.ts'

/** Refuses connections; its path is secret. */
export const unreachable = 'http://127.0.0.1:65001/in/a-secret-path'

/** A webhook of its own; the oldest ones make room. */
export async function makeWebhook(owner: Pick<Owner, 'call'>, wanted: object = {}) {
  const { webhooks } = (await owner.call('GET', '/webhooks')).json.data
  for (const { _id } of webhooks.slice(limits.webhooksMax - 1)) await owner.call('DELETE', `/webhooks/${_id}`)
  const body = { url: unreachable, events: ['license.banned'], ...wanted }
  const { webhook, secret } = (await owner.call('POST', '/webhooks', body)).json.data
  return { ...webhook, secret }
}
