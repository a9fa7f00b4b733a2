import type { Seal } from '../../core/crypto.ts'
import type { ShopRow } from '../../db/tables.ts'

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
