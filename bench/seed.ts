import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../apps/server/src/config.ts'
import { day, hour } from '../apps/server/src/core/clock.ts'
import { type Seal, sha256 } from '../apps/server/src/core/crypto.ts'
import { newAppId, newAppSecret, newId, newLicenseKey, normalizeKey } from '../apps/server/src/core/ids.ts'
import { operator } from '../apps/server/src/core/networks/caller.ts'
import { Passwords } from '../apps/server/src/core/passwords/passwords.ts'
import { newSigningKey } from '../apps/server/src/core/signing/signing.ts'
import { migrations } from '../apps/server/src/db/migrations/index.ts'
import { prepare } from '../apps/server/src/db/prepare.ts'
import { signingContext } from '../apps/server/src/modules/apps/apps.service.ts'
import { type Rows, rowsOf } from './rows.ts'

/** The data of the seeded owner that the load needs. */
export interface Seeded {
  email: string
  password: string
  apps: { id: string; appId: string; secret: string; share: number }[]
  /** Valid keys of the app with the most licenses, and its users, who have the password above. */
  keys: string[]
  users: string[]
  commonNote: string
}

const shares = [0.4, 0.2, 0.15, 0.1, 0.08, 0.04, 0.02, 0.01]
const password = 'correct horse battery staple'
const email = 'bench@example.com'
const commonNote = 'Summer sale 2026'
const notes = [commonNote, commonNote, 'Partner Nordwind', 'Trial extended', 'Conference giveaway']
const samples = 500
const schema = migrations.flatMap((migration) => [...migration.statements('sqlite')]).join('\n')
const recipe = readFileSync(new URL(import.meta.url))

/** The folder of a seeded embedded database, created once per schema and size. */
export async function seededFolder(licenses: number): Promise<string> {
  const parent = join(tmpdir(), 'keyward-bench')
  const digest = createHash('sha256').update(schema).update(recipe).digest('hex').slice(0, 12)
  const folder = join(parent, `${licenses}-${digest}`)
  if (existsSync(folder)) return folder
  mkdirSync(parent, { recursive: true })
  for (const old of readdirSync(parent)) {
    if (old.startsWith(`${licenses}-`)) rmSync(join(parent, old), { recursive: true })
  }
  const unfinished = join(parent, `unfinished-${process.pid}`)
  try {
    await seed({ DATA_DIR: unfinished }, licenses, unfinished)
    renameSync(unfinished, folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}

export const readSeeded = (folder: string): Seeded =>
  JSON.parse(readFileSync(join(folder, 'seeded.json'), 'utf8'))

export async function seed(environment: Record<string, string>, licenses: number, folder: string) {
  mkdirSync(folder, { recursive: true })
  const { database, seal } = await prepare(readConfig(environment))
  if (database.dialect === 'sqlite') database.handles.writer.database.exec('pragma synchronous = off')
  const rows = rowsOf(database)
  const started = Date.now()
  const seeded = await seedOwner(rows, seal)
  await seedLicenses(rows, seeded, licenses, (done) => {
    process.stdout.write(`\rSeeding ${licenses} licenses: ${Math.round((done / licenses) * 100)} %`)
  })
  await rows.finish()
  await database.close()
  process.stdout.write(`\rSeeding ${licenses} licenses: ${Math.round((Date.now() - started) / 1000)} s\n`)
  const { ownerId: _, hash: __, ...kept } = seeded
  writeFileSync(join(folder, 'seeded.json'), JSON.stringify(kept))
}

type Seeding = Seeded & { ownerId: string; hash: string }

async function seedOwner(rows: Rows, seal: Seal): Promise<Seeding> {
  const now = Date.now()
  const ownerId = newId('own')
  const hash = await new Passwords().hash(password, operator)
  const person = { id: ownerId, name: 'Bench', created_at: now - 400 * day }
  await rows.add('accounts', { ...person, email, email_normalized: email, password_hash: hash })
  await rows.add('owners', {
    id: ownerId,
    account_id: ownerId,
    name: 'Bench',
    premium_until: now + 3650 * day,
    created_at: now - 400 * day,
  })
  const apps = shares.map((share) => ({ id: newId('app'), appId: newAppId(), secret: newAppSecret(), share }))
  for (const { id, appId, secret } of apps) {
    const key = newSigningKey()
    await rows.add('apps', {
      id,
      owner_id: ownerId,
      app_id: appId,
      name: `App ${appId}`,
      secret_sealed: seal.seal(secret, `apps.secret:${id}`),
      secret_hash: sha256(secret),
      signing_kid: key.kid,
      signing_public: key.x,
      signing_sealed: seal.seal(key.privateKey, signingContext(id)),
      version: '1.0.0',
      created_at: now - 400 * day,
    })
  }
  return { ownerId, hash, email, password, apps, keys: [], users: [], commonNote }
}

/** Inserts licenses created over 400 days, in order; two fifths are used, each by its own end user. */
async function seedLicenses(rows: Rows, seeded: Seeding, count: number, progress: (done: number) => void) {
  const now = Date.now()
  const random = randomNumbers(2026)
  for (let at = 0; at < count; at += 1) {
    const createdAt = Math.floor(now - 400 * day + (at / count) * 400 * day)
    const app = appAt(seeded.apps, random())
    const term = [30, 90, 365, 365, 365][Math.floor(random() * 5)] as number
    const end = createdAt + term * day
    const expiresAt = random() < 0.8 ? Math.floor(end / day) * day + day - 1 : end
    const used = random() < 0.4
    const banned = random() < 0.01
    const key = newLicenseKey()
    const license = {
      id: newId('lic'),
      client: used ? newId('usr') : null,
      key,
      createdAt,
      expiresAt,
      banned,
    }
    const username = `user${at}`
    if (used) await rows.add('clients', toClient(seeded, app, license, username, random()))
    await rows.add('licenses', {
      id: license.id,
      owner_id: seeded.ownerId,
      app_id: app.id,
      client_id: license.client,
      key,
      key_normalized: normalizeKey(key),
      note: noteAt(random(), at),
      used: Number(used),
      used_at: used ? createdAt + hour : null,
      banned: Number(banned),
      expires_at: expiresAt,
      created_at: createdAt,
    })
    const isUsable = app === seeded.apps[0] && !banned && expiresAt > createdAt + 360 * day
    if (isUsable && at > count / 2) {
      if (seeded.keys.length < samples && !used) seeded.keys.push(key)
      if (seeded.users.length < samples && used) seeded.users.push(username)
    }
    if (at % 20_000 === 0) progress(at)
  }
}

interface NewLicense {
  id: string
  client: string | null
  expiresAt: number
  createdAt: number
}

function toClient(seeded: Seeding, app: { id: string }, license: NewLicense, name: string, chance: number) {
  const hwid = chance < 0.5 ? `hw-${name}` : null
  return {
    id: license.client,
    owner_id: seeded.ownerId,
    app_id: app.id,
    license_id: license.id,
    username: name,
    username_normalized: name,
    password_hash: seeded.hash,
    hwid,
    hwid_hash: hwid === null ? null : sha256(hwid),
    expires_at: license.expiresAt,
    created_at: license.createdAt + hour,
  }
}

function noteAt(chance: number, at: number): string | null {
  if (chance < 0.3) return notes[Math.floor(chance * 1000) % notes.length] ?? null
  return chance < 0.35 ? `Order ${100_000 + at}` : null
}

function appAt<App extends { share: number }>(apps: App[], chance: number): App {
  let rest = chance
  for (const app of apps) {
    if (rest < app.share) return app
    rest -= app.share
  }
  return apps[0] as App
}

/** Returns the same sequence in every run (mulberry32). */
function randomNumbers(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
