import { z } from 'zod'
import { session } from './auth.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { roles } from './permissions.ts'
import { orSecondFactor } from './second-factor.ts'
import { id, idParams, none, personName, resetToken, signInPassword } from './shared.ts'

/** A vendor account that the signed-in person owns or is a member of. */
const vendor = z.strictObject({
  _id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  current: z.boolean().describe('whether the token of this request works on it'),
})

const tag = 'Auth'

export const vendors = {
  acceptInvitation: endpoint({
    method: 'POST',
    path: '/auth/invitations/accept',
    access: 'public',
    hashes: true,
    tag,
    summary:
      'Accept an invitation and sign in. Without an account of the invited address, choose a name and a password; with one, send its password without a name',
    body: z.strictObject({
      token: resetToken,
      name: personName.optional(),
      password: signInPassword.optional(),
    }),
    data: orSecondFactor(session),
    errors: [
      'vendor_disabled',
      'invitation_invalid',
      'invalid_credentials',
      'member_exists',
      'vendors_full',
      'rate_limited',
      'busy',
    ],
  }),
  list: endpoint({
    method: 'GET',
    path: '/auth/vendors',
    access: 'owner',
    permission: 'self',
    tag,
    summary: 'List the vendor accounts that you own or are a member of: your own first, then by name',
    data: z.strictObject({ vendors: z.array(vendor).max(limits.vendorsMax) }),
  }),
  open: endpoint({
    method: 'POST',
    path: '/auth/vendor',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    tag,
    summary: 'Get another token, for another of your vendor accounts; the token of this request stays valid',
    body: z.strictObject({ _id: id }),
    data: z.strictObject({ token: z.string() }),
    errors: ['not_found', 'vendor_disabled', 'rate_limited'],
  }),
  leave: endpoint({
    method: 'DELETE',
    path: '/auth/vendors/:id',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    tag,
    summary: 'Leave the team of a vendor account; ends your sessions there',
    params: idParams,
    data: none,
    errors: ['vendor_owned', 'last_vendor'],
  }),
  deleteAccount: endpoint({
    method: 'DELETE',
    path: '/auth/account',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    job: true,
    tag,
    summary:
      'Delete your account with your vendor account, which must have no apps, and your memberships; ends all sessions',
    body: z.strictObject({ password: signInPassword }),
    data: none,
    errors: ['account_owns_apps', 'payment_pending', 'conflict', 'rate_limited', 'busy'],
  }),
}

export type Vendor = z.output<typeof vendor>
