import { randomBytes } from 'node:crypto'
import type { Seal } from '../../core/crypto.ts'
import type { ShopRow } from '../../db/tables.ts'
import type { LostKey, LostKeyReport } from '../description.ts'

export const shopSecretContext = (id: string) => `shop secret ${id}`
export const shopKeyContext = (id: string) => `shop api key ${id}`

export const sealSecret = (seal: Seal, id: string, secret: string): string =>
  seal.seal(secret, shopSecretContext(id))

/** What a shop signs with; undefined once it is deleted. */
export const secretOf = (
  seal: Seal,
  { id, secret_sealed }: Pick<ShopRow, 'id' | 'secret_sealed'>,
): string | undefined =>
  secret_sealed === null ? undefined : seal.open(secret_sealed, shopSecretContext(id))

export const sealApiKey = (seal: Seal, id: string, apiKey: string): string =>
  seal.seal(apiKey, shopKeyContext(id))

export const apiKeyOf = (
  seal: Seal,
  { id, api_key_sealed }: Pick<ShopRow, 'id' | 'api_key_sealed'>,
): string | undefined => (api_key_sealed === null ? undefined : seal.open(api_key_sealed, shopKeyContext(id)))

const hookSecretLength = 32

/** What the address of a shop ends with that signs nothing. */
export const hookSecretOf = (seal: Seal, id: string): string =>
  seal.digest(`shop hook ${id}`).slice(0, hookSecretLength)

/** Pauses all shops, and removes what a lost secret key sealed, also of mails that waited. */
export async function loseKey({ tx, seal }: LostKey): Promise<Pick<LostKeyReport, 'shops'>> {
  // What is sent while the vendor has not typed the real one: nobody knows it.
  const placeholder = randomBytes(32).toString('hex') + seal.fingerprint
  const rows = await tx
    .selectFrom('shops')
    .select(['id', 'name', 'owner_id'])
    .where('secret_sealed', 'is not', null)
    .execute()
  for (const { id } of rows) {
    await tx
      .updateTable('shops')
      .set({
        secret_sealed: seal.seal(placeholder, shopSecretContext(id)),
        active: 0,
      })
      .where('id', '=', id)
      .execute()
  }
  await tx.updateTable('shops').set({ api_key_sealed: null }).execute()
  // What arrived waits until the shop goes on.
  await tx.updateTable('shop_events').set({ due_at: null }).where('state', '=', 'waiting').execute()
  await tx.updateTable('shop_orders').set({ mail: 'failed' }).where('mail', '=', 'queued').execute()
  return { shops: rows.map(({ owner_id, ...shop }) => ({ ...shop, vendor: owner_id })) }
}
