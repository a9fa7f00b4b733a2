import { Keyward } from '@keyward/sdk'
import { forgetKey, readConfig, rememberedKey, rememberKey, SetupError } from './config.mjs'

/** Must follow the version in Keyward's console, so that users hear of updates. */
const version = '1.0.0'

/** The server has spoken: this copy may not work. The message is the app owner's own. */
export class RefusedError extends Error {}

/** Signs in with the given key, or with the one that worked last time. */
export async function openGate(givenKey) {
  const key = givenKey ?? (await rememberedKey())
  if (!key) throw new SetupError('Tally needs a license. Start it once with --key YOUR-LICENSE-KEY.')
  const keyward = new Keyward({ ...(await readConfig()), version })

  const { app, updateAvailable } = granted(await keyward.init())
  const { user } = granted(await keyward.license(key))
  await rememberKey(key)

  return {
    expiresAt: new Date(user.expiresAt),
    newVersion: updateAvailable ? app.version : undefined,
    /** Call it before every piece of work: it throws as soon as the license is no longer good. */
    check: async () => granted(await keyward.session()),
    close: () => keyward.logout(),
  }
}

export { forgetKey }

function granted(result) {
  if (!result.ok) throw new RefusedError(result.message)
  return result
}
