import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A mistake that the user can correct. */
export class SetupError extends Error {}

const places = [
  process.env.KEYWARD_CONFIG,
  'keyward.json',
  fileURLToPath(new URL('../keyward.json', import.meta.url)),
]

/**
 * Reads the server's address and keys from `keyward.json`; environment variables take precedence. A program that you
 * ship has these four values built in.
 */
export async function readConfig() {
  const { KEYWARD_BASE_URL, KEYWARD_APP_ID, KEYWARD_SECRET, KEYWARD_PUBLIC_KEYS, KEYWARD_HWID } = process.env
  const file = await readFirst(places)
  const config = {
    baseUrl: KEYWARD_BASE_URL ?? file.baseUrl,
    appId: KEYWARD_APP_ID ?? file.appId,
    secret: KEYWARD_SECRET ?? file.secret,
    publicKeys: KEYWARD_PUBLIC_KEYS ? parse('KEYWARD_PUBLIC_KEYS', KEYWARD_PUBLIC_KEYS) : file.publicKeys,
    hwid: KEYWARD_HWID ?? file.hwid,
  }
  const missing = ['baseUrl', 'appId', 'secret', 'publicKeys'].filter((name) => config[name] === undefined)
  if (missing.length > 0) {
    throw new SetupError(`Not configured: ${missing.join(', ')}. Copy keyward.example.json to keyward.json.`)
  }
  return config
}

async function readFirst(paths) {
  for (const path of paths) {
    if (!path) continue
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined) return parse(path, text)
  }
  return {}
}

function parse(name, text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new SetupError(`${name} is not valid JSON.`)
  }
}

function keyFile() {
  const { TALLY_HOME, XDG_CONFIG_HOME, APPDATA } = process.env
  const home = TALLY_HOME ?? join(XDG_CONFIG_HOME ?? APPDATA ?? join(homedir(), '.config'), 'tally')
  return join(home, 'license-key')
}

/** The key of the last successful activation, if any. */
export async function rememberedKey() {
  const text = await readFile(keyFile(), 'utf8').catch(() => '')
  return text.trim() || undefined
}

/** Returns whether it was stored: a full disk must not stop a customer whose license was just granted. */
export async function rememberKey(key) {
  try {
    await mkdir(dirname(keyFile()), { recursive: true })
    await writeFile(keyFile(), `${key}\n`, { mode: 0o600 })
    return true
  } catch {
    return false
  }
}

export async function forgetKey() {
  await rm(keyFile(), { force: true })
}
