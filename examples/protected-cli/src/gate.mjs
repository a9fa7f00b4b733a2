import { Keyward, KeywardNetworkError } from '@keyward/sdk'
import {
  forgetKey,
  isActivated,
  readConfig,
  rememberedKey,
  rememberKey,
  SetupError,
  storage,
} from './config.mjs'

/** Keep in step with the version in Keyward's console, which reports updates to users. */
const version = '1.0.0'

/** The server rejected this copy. The message is the app owner's own. */
export class RefusedError extends Error {}

/** With a storage, Tally works without the server for as long as the app's settings say. */
const connect = async () => new Keyward({ ...(await readConfig()), version, storage })

/** Signs in with the given key, or with the last one that worked. */
export async function openGate(givenKey) {
  const key = givenKey ?? (await rememberedKey())
  if (!key && !(await isActivated())) {
    throw new SetupError('Tally needs a license. Start it once with --key YOUR-LICENSE-KEY.')
  }
  const keyward = await connect()

  const newVersion = await findNewVersion(keyward)
  const { user, offline } = granted(await (key ? keyward.license(key) : keyward.session()))
  if (key) await rememberKey(key)

  return {
    /** Null if the license never expires. */
    expiresAt: user.expiresAt === null ? null : new Date(user.expiresAt),
    /** Whether the server did not answer, and a signed file on this machine did. */
    isOffline: offline !== undefined,
    newVersion,
    /** Call it before every piece of work: it throws once the license is no longer valid. */
    check: async () => granted(await keyward.session()),
  }
}

/** A machine that is never online: the text that the vendor answers with a file. */
export const makeRequest = async (key) => (await connect()).offlineRequest(key)

/** Accepts the vendor's file; returns its end, or null. */
export async function activate(file) {
  const { offline } = granted(await (await connect()).activateOffline(file))
  return offline.until === null ? null : new Date(offline.until)
}

/** Frees this machine: the vendor needs the code that it returns. */
export const deactivate = async () => (await connect()).deactivateOffline()

/** Signs out, which forgets what the SDK has stored. */
export async function forget() {
  await forgetKey()
  await (await connect()).logout()
}

async function findNewVersion(keyward) {
  try {
    const { app, updateAvailable } = granted(await keyward.init())
    return updateAvailable ? app.version : undefined
  } catch (error) {
    if (error instanceof KeywardNetworkError) return undefined
    throw error
  }
}

/** With the reference, the vendor finds the reason. */
function granted(result) {
  if (result.ok) return result
  const { message, reference } = result
  throw new RefusedError(reference ? `${message} (reference ${reference})` : message)
}
