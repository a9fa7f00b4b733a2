import { readConfig } from '../apps/server/src/config.ts'
import { day } from '../apps/server/src/core/clock.ts'
import { sha256 } from '../apps/server/src/core/crypto.ts'
import { newAppId, newAppSecret, newId, newLicenseKey, normalizeKey } from '../apps/server/src/core/ids.ts'
import { operator } from '../apps/server/src/core/networks/caller.ts'
import { Passwords } from '../apps/server/src/core/passwords/passwords.ts'
import { newSigningKey } from '../apps/server/src/core/signing/signing.ts'
import { prepare } from '../apps/server/src/db/prepare.ts'
import { signingContext } from '../apps/server/src/modules/apps/apps.service.ts'
import { rowsOf } from './rows.ts'

/** A large account that keeps the server busy, and a small account of another owner. */
export interface Accounts {
  busy: { email: string; password: string; resellerEmail: string; appId: string }
  other: { appId: string; secret: string; licenseKey: string }
}

const sizes = { apps: 1501, licenses: 3000, resellers: 2000, resellerLicenses: 10_000 }
const password = 'correct horse battery staple'

export async function seedAccounts(folder: string): Promise<Accounts> {
  const { database, seal } = await prepare(readConfig({ DATA_DIR: folder }))
  if (database.dialect === 'sqlite') database.handles.writer.database.exec('pragma synchronous = off')
  const rows = rowsOf(database)
  const now = Date.now()
  const hash = await new Passwords().hash(password, operator)
  const addOwner = async (email: string) => {
    const id = newId('own')
    const person = { id, name: 'Bench', created_at: now }
    await rows.add('accounts', { ...person, email, email_normalized: email, password_hash: hash })
    await rows.add('owners', {
      id,
      account_id: id,
      name: 'Bench',
      premium_until: now + 365 * day,
      created_at: now,
    })
    return id
  }
  const addApp = async (ownerId: string, at: number) => {
    const [id, appId, secret, key] = [newId('app'), newAppId(), newAppSecret(), newSigningKey()]
    await rows.add('apps', {
      id,
      owner_id: ownerId,
      app_id: appId,
      name: `App ${at}`,
      secret_sealed: seal.seal(secret, `apps.secret:${id}`),
      secret_hash: sha256(secret),
      signing_kid: key.kid,
      signing_public: key.x,
      signing_sealed: seal.seal(key.privateKey, signingContext(id)),
      version: '1.0.0',
      created_at: now,
    })
    return { id, appId, secret }
  }
  const addReseller = async (ownerId: string, appId: string, at: number) => {
    const [id, email] = [newId('res'), `reseller${at}@example.com`]
    await rows.add('resellers', {
      id,
      owner_id: ownerId,
      app_id: appId,
      email,
      email_normalized: email,
      password_hash: hash,
      allowed_license_keys: 10_000,
      created_at: now,
    })
    return { id, email }
  }
  const addLicense = async (ownerId: string, appId: string, resellerId: string | null = null) => {
    const key = newLicenseKey()
    await rows.add('licenses', {
      id: newId('lic'),
      owner_id: ownerId,
      app_id: appId,
      reseller_id: resellerId,
      key,
      key_normalized: normalizeKey(key),
      note: null,
      expires_at: now + 365 * day,
      created_at: now,
    })
    return key
  }

  const busy = await addOwner('busy@example.com')
  const large = await addApp(busy, 0)
  const small = await addApp(busy, 1)
  for (let at = 2; at < sizes.apps; at += 1) await addApp(busy, at)
  const reseller = await addReseller(busy, small.id, 0)
  for (let at = 1; at < sizes.resellers; at += 1) await addReseller(busy, large.id, at)
  for (let at = 0; at < sizes.licenses; at += 1) await addLicense(busy, large.id)
  for (let at = 0; at < sizes.resellerLicenses; at += 1) await addLicense(busy, small.id, reseller.id)
  const other = await addOwner('other@example.com')
  const app = await addApp(other, 0)
  const licenseKey = await addLicense(other, app.id)
  await rows.finish()
  await database.close()
  return {
    busy: { email: 'busy@example.com', password, resellerEmail: reseller.email, appId: large.appId },
    other: { appId: app.appId, secret: app.secret, licenseKey },
  }
}
