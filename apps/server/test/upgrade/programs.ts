// Programs that were shipped with the SDK of a landed state, and people: what each of them gets from a server.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { callOver } from '../server-process.ts'
import { fetchAgain } from './answers.ts'
import { type Filled, owner, seller } from './fill.ts'
import type { State } from './states.ts'

interface Result {
  ok: boolean
  code?: string
  message?: string
  user?: { _id: string }
}
/** The calls of `packages/sdk/src/keyward.ts` that all of its versions have. */
interface Keyward {
  login(credentials: object): Promise<Result>
  register(registration: object): Promise<Result>
  license(key: string): Promise<Result>
  session(): Promise<Result>
  upgrade(upgrade: { username: string; licenseKey: string }): Promise<Result>
  validate(key: string): Promise<Result>
  devices(): Promise<Result>
  logout(): Promise<Result>
  offlineRequest(key: string): Promise<string>
  activateOffline(file: string): Promise<Result>
}
type Options = Record<string, unknown>

export interface Programs {
  /** What everybody gets, by what they do. */
  run(): Promise<Record<string, unknown>>
}

/** Ships programs, which sign in, before the upgrade. */
export async function ship(state: State, folder: string, url: string, filled: Filled): Promise<Programs> {
  const unpacked = join(folder, 'sdk')
  mkdirSync(unpacked)
  execFileSync('tar', ['-xzf', state.sdk, '-C', unpacked])
  const { Keyward } = (await import(join(unpacked, 'package/dist/node.js'))) as {
    Keyward: new (options: Options) => Keyward
  }
  const { app, keys, seatKey, bannedKey, added, tokens } = filled
  const published = await fetchAgain(`${url}/api/client/apps/${app.appId}/keys`)
  const { data } = (await published.json()) as { data: { keys: object[] } }
  const fixed = {
    ...{ baseUrl: url, appId: app.appId, secret: app.appSecret },
    ...{ publicKeys: data.keys, version: '1.0.0' },
  }
  const program = (hwid: string, more: Options = {}) => new Keyward({ ...fixed, hwid, ...more })
  const [ownKey = '', registeredKey = '', offlineKey = '', checkedKey = '', ...others] = keys

  const running = program('machine 1')
  await granted(running.license(ownKey))
  await granted(
    program('machine 2').register({ username: 'Dora', password: 'swordfish', licenseKey: registeredKey }),
  )
  const remembered = storage()
  await granted(
    program('machine 3', { storage: remembered }).login({ username: 'Ada', password: 'swordfish' }),
  )
  const offline = storage()
  const neverOnline = program('machine 4', { storage: offline })
  const request = await neverOnline.offlineRequest(offlineKey)
  const path = `/apps/${app._id}/offline-activations`
  const activated = await callOver(url, 'POST', path, { token: tokens.owner, body: { request } })
  await granted(neverOnline.activateOffline(activated.json.data.file))
  const kept = remembered.text

  const change = async (path: string) => {
    const { status } = await callOver(url, 'PATCH', path, { token: tokens.owner, body: {} })
    if (status !== 200) throw new Error(`${path} answered ${status}`)
  }
  const withAdded = {
    Fay: [added.month, added.year],
    Gil: [added.forever],
    Hal: [added.taken],
    Ida: [added.paused],
  }
  for (const [at, [username, more]] of Object.entries(withAdded).entries()) {
    const registration = { username, password: 'swordfish', licenseKey: others[at] ?? '' }
    const { user } = await granted(program(`machine of ${username}`).register(registration))
    for (const { key } of more) await granted(program('machine 7').upgrade({ username, licenseKey: key }))
    if (username === 'Hal') await change(`/licenses/${added.taken._id}/toggle-ban`)
    if (username === 'Ida') await change(`/clients/${user?._id}/toggle-pause`)
  }
  const signInOf = (username: string) =>
    program(`machine of ${username}`).login({ username, password: 'swordfish' })

  const signIn = async (path: string, { email, password }: typeof seller) => {
    const { status, json } = await callOver(url, 'POST', path, { body: { email, password } })
    return { status, email: (json.data?.user ?? json.data?.reseller)?.email }
  }

  return {
    run: async () => {
      // A token of a remembered sign-in works once, so each state of the data gets the one that it knows.
      const again = program('machine 3', { storage: storage(kept) })
      const noServer = { baseUrl: 'http://127.0.0.1:1', timeoutMs: 2000 }
      const onPassword = program('machine 2')
      return {
        'the owner, by password': await signIn('/auth/login', owner),
        'the reseller, by password': await signIn('/resellers/auth/login', seller),
        'a program that is still running': await running.session(),
        'its devices': await running.devices(),
        'a program that remembers its sign-in': await again.session(),
        'a name and password': await onPassword.login({ username: 'Dora', password: 'swordfish' }),
        'end users with added keys': Object.fromEntries(
          await Promise.all(Object.keys(withAdded).map(async (name) => [name, await signInOf(name)])),
        ),
        'a session, once ended': [await onPassword.logout(), await onPassword.session()],
        'a key on its machine': await program('machine 1').license(ownKey),
        'a key on another machine': await program('machine 9').license(ownKey),
        'a floating key': await program('machine 5').license(seatKey),
        'a check without a sign-in': await program('machine 6').validate(checkedKey),
        'a banned key': await program('machine 1').license(bannedKey),
        'an unknown key': await program('machine 1').license('AAAAA-BBBBB-CCCCC'),
        'a blocked machine': await program('a blocked machine').license(checkedKey),
        'a wrong password': await program('machine 2').login({ username: 'Dora', password: 'wrong one' }),
        'a machine that is never online': await program('machine 4', {
          ...noServer,
          storage: storage(offline.text),
        }).session(),
      }
    },
  }
}

async function granted(result: Promise<Result>): Promise<Result> {
  const answer = await result
  if (!answer.ok) throw new Error(`A program was refused: ${answer.code} ${answer.message}`)
  return answer
}

function storage(text: string | null = null) {
  return {
    text,
    async read() {
      return this.text
    },
    async write(next: string) {
      this.text = next
    },
  }
}
