import { Keyward } from '@keyward/sdk'
import { forgetKey, readConfig, rememberedKey, rememberKey, SetupError } from './config.mjs'

/** Keep in step with the version in Keyward's console, which reports updates to users. */
const version = '1.0.0'

/** The server rejected this copy. The message is the app owner's own. */
export class RefusedError extends Error {}

/** Signs in with the given key, or with the last one that worked. */
export async function openGate(givenKey) {
  const key = givenKey ?? (await rememberedKey())
  if (!key) throw new SetupError('Tally needs a license. Start it once with --key YOUR-LICENSE-KEY.')
  const keyward = new Keyward({ ...(await readConfig()), version })

  const { app, updateAvailable } = granted(await keyward.init())
  const { user } = granted(await keyward.license(key))
  await rememberKey(key)

  return {
    /** Null if the license never expires. */
    expiresAt: user.expiresAt === null ? null : new Date(user.expiresAt),
    newVersion: updateAvailable ? app.version : undefined,
    /** Call it before every piece of work: it throws once the license is no longer valid. */
    check: async () => granted(await keyward.session()),
    close: () => keyward.logout(),
  }
}

export { forgetKey }

function granted(result) {
  if (!result.ok) throw new RefusedError(result.message)
  return result
}
