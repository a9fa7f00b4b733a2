import { Keyward, KeywardNetworkError } from '@keyward/sdk'
import { forgetKey, readConfig, rememberedKey, rememberKey, SetupError } from './config.mjs'
import { nextStep, shopPages } from './next-step.mjs'

/** Keep in step with the version in Keyward's console, which reports updates to users. */
const version = '1.0.0'

/** The server rejected this copy. */
export class RefusedError extends Error {}

/**
 * With a storage, Tally works without the server for as long as the app's settings say. `user-data` is a file that all
 * copies of Tally share: the SDK locks it, and replaces it as a whole.
 */
const connect = async () => new Keyward({ ...(await readConfig()), version, storage: 'user-data' })

/** Signs in with the given key, or with the last one that worked. */
export async function openGate(typedKey) {
  const key = typedKey ?? (await rememberedKey())
  const keyward = await connect()
  const newVersion = await findNewVersion(keyward)
  const { user, offline } = key ? granted(await keyward.license(key)) : await resume(keyward)
  return {
    /** Null if the license never expires. */
    expiresAt: user.expiresAt,
    /** Set if the server did not answer, and a signed file on this machine did. */
    offline,
    newVersion,
    /** False if the next start needs the key again. */
    isRemembered: key ? await rememberKey(key) : true,
    /** Call it before every piece of work: it throws once the license is no longer valid. */
    check: async () => granted(await keyward.session()),
  }
}

/** Without a key: the sign-in that the SDK remembers, or the activation of a machine that is never online. */
async function resume(keyward) {
  const needed = new SetupError('Tally needs a license. Start it once with --key YOUR-LICENSE-KEY.')
  const result = await keyward.session().catch((error) => {
    throw error.offline === 'no_lease' ? needed : error
  })
  if (result.code === 'sessionUnauthed') throw needed
  return granted(result)
}

/** A machine that is never online: the text that the vendor answers with a file. */
export const makeRequest = async (key) => (await connect()).offlineRequest(key)

/** Accepts the vendor's file; returns its end, or null. */
export async function activate(file) {
  const { offline } = granted(await (await connect()).activateOffline(file))
  return offline.until
}

/** Frees this machine: the vendor needs the code that it returns. */
export const deactivate = async () => (await connect()).deactivateOffline()

/** Downloads the newest version that the license covers; returns the path of its file, undefined without one. */
export async function downloadUpdate(folder) {
  const keyward = await connect()
  const { update } = granted(await keyward.checkForUpdate({ licenseKey: await rememberedKey() }))
  return update?.artifact ? keyward.downloadUpdate(update, folder) : undefined
}

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

/** The vendor's text, what to do about it, and the reference by which the vendor finds the reason. */
function granted(result) {
  if (result.ok) return result
  const { message, reference } = result
  throw new RefusedError(
    [message, nextStep(result), ...shopPages(result), ...(reference ? [`Reference: ${reference}`] : [])].join(
      '\n',
    ),
  )
}
