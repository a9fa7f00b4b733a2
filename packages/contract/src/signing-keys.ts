import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { id, idParams, isoTime, none } from './shared.ts'

/**
 * `next`: shipped with programs before it is the main key. `current`: the main key. `retired`: signs for programs that
 * know no newer one. `revoked`: signs nothing.
 */
const keyStatus = z.enum(['next', 'current', 'retired', 'revoked'])

/** A public Ed25519 key of an app as a JSON Web Key. */
const publicKey = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
})

/** A key that programs may pin. */
export const pinnedKey = publicKey.extend({ status: keyStatus.exclude(['revoked']) })

const signingKey = publicKey.extend({ status: keyStatus, createdAt: isoTime })
export type SigningKey = z.infer<typeof signingKey>

const keyList = z.strictObject({ signingKeys: z.array(signingKey) })
const keyParams = z.object({ id, kid: z.string().min(1).max(64) })
const tag = 'Signing keys'

export const signingKeys = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/signing-keys',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'List the public signing keys of an app, newest first',
    params: idParams,
    data: keyList,
  }),
  create: endpoint({
    method: 'POST',
    path: '/apps/:id/signing-keys',
    access: 'owner',
    permission: 'secrets:write',
    tag,
    summary: 'Make the next signing key, to ship in new versions of the program',
    params: idParams,
    body: none,
    data: keyList,
    status: 201,
    errors: ['conflict'],
  }),
  promote: endpoint({
    method: 'POST',
    path: '/apps/:id/signing-keys/:kid/promote',
    access: 'owner',
    permission: 'secrets:write',
    tag,
    summary: 'Make the next key the current one; the current one retires, and signs for older programs',
    params: keyParams,
    body: none,
    data: keyList,
    errors: ['conflict'],
  }),
  revoke: endpoint({
    method: 'POST',
    path: '/apps/:id/signing-keys/:kid/revoke',
    access: 'owner',
    permission: 'secrets:write',
    tag,
    summary:
      'Stop signing with a next or retired key; programs that pin no other key accept nothing any more',
    params: keyParams,
    body: none,
    data: keyList,
    errors: ['conflict'],
  }),
}
