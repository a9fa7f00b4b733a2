import type { Seal } from '../../core/crypto.ts'
import type { ShopRow } from '../../db/tables.ts'

const context = (id: string) => `shop secret ${id}`
const keyContext = (id: string) => `shop api key ${id}`

export const sealSecret = (seal: Seal, id: string, secret: string): string => seal.seal(secret, context(id))

/** What a shop signs with; undefined once it is deleted. */
export const secretOf = (
  seal: Seal,
  { id, secret_sealed }: Pick<ShopRow, 'id' | 'secret_sealed'>,
): string | undefined => (secret_sealed === null ? undefined : seal.open(secret_sealed, context(id)))

export const sealApiKey = (seal: Seal, id: string, apiKey: string): string =>
  seal.seal(apiKey, keyContext(id))

export const apiKeyOf = (
  seal: Seal,
  { id, api_key_sealed }: Pick<ShopRow, 'id' | 'api_key_sealed'>,
): string | undefined => (api_key_sealed === null ? undefined : seal.open(api_key_sealed, keyContext(id)))

const hookSecretLength = 32

/** What the address of a shop ends with that signs nothing. */
export const hookSecretOf = (seal: Seal, id: string): string =>
  seal.digest(`shop hook ${id}`).slice(0, hookSecretLength)
