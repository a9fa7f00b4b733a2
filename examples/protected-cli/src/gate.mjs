import { Keyward } from '@keyward/sdk'
import {
  activationStorage,
  forgetKey,
  readConfig,
  rememberedKey,
  rememberKey,
  SetupError,
} from './config.mjs'

/** Keep in step with the version in Keyward's console, which reports updates to users. */
const version = '1.0.0'

/** The server rejected this copy. The message is the app owner's own. */
export class RefusedError extends Error {}

/** Signs in with the given key, or with the last one that worked. */
export async function openGate(givenKey) {
  const offline = givenKey === undefined ? await openOffline() : undefined
  if (offline) return offline
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

/** A machine that is never online: it exchanges texts with the vendor instead. */
const offlineMachine = async () =>
  new Keyward({ ...(await readConfig()), version, storage: activationStorage, timeoutMs: 2_000 })

/** The text that the vendor needs for this machine. */
export const offlineRequest = async (key) => (await offlineMachine()).offlineRequest(key)

/** Accepts the vendor's file. */
export async function activateOffline(file) {
  const { offline } = await (await offlineMachine()).activateOffline(file)
  return offline.until === null ? null : new Date(offline.until)
}

/** Returns the code with which the vendor frees this machine. */
export const deactivateOffline = async () => (await offlineMachine()).deactivateOffline()

/** The gate of a machine with an activation; undefined without one. */
async function openOffline() {
  const kept = await activationStorage.read()
  if (!kept || JSON.parse(kept).activation?.file === undefined) return undefined
  const keyward = await offlineMachine()
  const { user } = granted(await keyward.session())
  return {
    expiresAt: user.expiresAt === null ? null : new Date(user.expiresAt),
    newVersion: undefined,
    check: async () => granted(await keyward.session()),
    close: async () => {},
  }
}

export { forgetKey }

function granted(result) {
  if (!result.ok) throw new RefusedError(result.message)
  return result
}
