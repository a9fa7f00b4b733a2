import { platform } from '#platform'
import { KeywardUsageError } from './errors.ts'
import type { CheckedOptions } from './options.ts'
import type { DeviceDescription } from './types.ts'

/** What a program says about the machine that it runs on. */
export class Identity {
  readonly #options: CheckedOptions
  #hwid: Promise<string | undefined> | undefined
  #device: Promise<DeviceDescription | undefined> | undefined

  constructor(options: CheckedOptions) {
    this.#options = options
  }

  /** The hardware id; undefined if the program sends none. */
  hwid(): Promise<string | undefined> {
    const { hwid, appId } = this.#options
    this.#hwid ??= (async () => {
      if (hwid === null) return undefined
      const found = typeof hwid === 'function' ? await ask(hwid) : (hwid ?? (await platform.findHwid(appId)))
      if (typeof found === 'string' && found.length >= 1 && found.length <= 256) return found
      throw new KeywardUsageError('invalid_options', 'hwid must give a text of 1 to 256 characters')
    })()
    this.#hwid.catch(() => {
      this.#hwid = undefined
    })
    return this.#hwid
  }

  /** The hardware id, and the description of the machine beside it. */
  async facts(): Promise<{ hwid?: string; device?: DeviceDescription }> {
    const { appId, device } = this.#options
    const hwid = await this.hwid()
    if (hwid === undefined) return {}
    if (!device) return { hwid }
    this.#device ??= platform.describeDevice(appId).catch(() => undefined)
    const description = await this.#device
    return description ? { hwid, device: description } : { hwid }
  }

  /** What a sign-in sends, which the program may remember. */
  async signInFacts() {
    const facts = await this.facts()
    return this.#options.offline && facts.hwid !== undefined ? { ...facts, remember: true } : facts
  }
}

async function ask(hwid: () => string | Promise<string>): Promise<string> {
  try {
    return await hwid()
  } catch (cause) {
    throw new KeywardUsageError('hwid_unavailable', 'The function hwid failed', { cause })
  }
}
