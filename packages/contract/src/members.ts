import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { customPermissions, type Permission, permissions } from './permissions.ts'
import { email, id, idParams, isoTime, none } from './shared.ts'

/** The roles that a member can have; the owner's is not given away, but handed over. */
export const memberRole = z.enum(['manager', 'support', 'viewer', 'custom'])

const permissionsOfMember = z
  .array(z.enum(customPermissions as readonly [Permission, ...Permission[]]))
  .min(1, 'Choose at least one permission')
  .max(customPermissions.length)
  .transform((all) => [...new Set(all)])
  .optional()
  .describe('what a member with the role `custom` may do')

const appsOfMember = z
  .array(id)
  .min(1, 'Please choose at least one application')
  .max(limits.memberAppsMax, `Choose at most ${limits.memberAppsMax} applications, or all`)
  .nullable()

/** A member of the owner's team, or an invited person. `_id` is the id of the membership. */
export const member = z.strictObject({
  _id: z.string(),
  name: z.string().nullable().describe('null until the invitation is accepted'),
  email: z.string(),
  role: memberRole,
  permissions: z.array(z.enum(permissions)).nullable().describe('of the role `custom`; null for the others'),
  apps: z
    .array(z.string())
    .max(limits.memberAppsMax)
    .nullable()
    .describe('the applications the member works on; null for all'),
  secondFactor: z.boolean().describe('whether signing in takes a second factor'),
  lastUsedAt: isoTime.nullable(),
  invited: z.boolean().describe('whether the invitation has not been accepted yet'),
})

const customNeeds = {
  path: ['permissions'],
  message: 'The role `custom` has permissions of its own, and no other role has',
}

const one = z.strictObject({ member })
const tag = 'Members'

export const members = {
  list: endpoint({
    method: 'GET',
    path: '/members',
    access: 'owner',
    permission: 'members:read',
    allApps: true,
    tag,
    summary: 'List the members of your team and the people you invited, oldest first',
    data: z.strictObject({ members: z.array(member).max(limits.membersMax) }),
  }),
  invite: endpoint({
    method: 'POST',
    path: '/members',
    access: 'owner',
    permission: 'members:write',
    allApps: true,
    confirm: 'always',
    tag,
    summary:
      'Invite a person to your team, by mail if the server sends any. The link in the response works once, for 7 days; inviting the same address again replaces it',
    bodyLimit: 65_536,
    body: z
      .strictObject({
        email,
        role: memberRole,
        permissions: permissionsOfMember,
        apps: appsOfMember.optional(),
      })
      .refine(({ role, permissions: named }) => (role === 'custom') === (named !== undefined), customNeeds),
    data: one.extend({ link: z.string() }),
    status: 201,
    errors: ['not_found', 'member_exists', 'members_full', 'permission_missing', 'rate_limited'],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/members/:id',
    access: 'owner',
    permission: 'members:write',
    allApps: true,
    confirm: 'always',
    tag,
    summary: 'Change what a member may do, and on which applications; applies to the next request',
    params: idParams,
    bodyLimit: 65_536,
    body: z
      .strictObject({
        role: memberRole.optional(),
        permissions: permissionsOfMember,
        apps: appsOfMember.optional(),
      })
      .refine((changes) => Object.values(changes).some((value) => value !== undefined), 'Nothing to change')
      .refine(
        ({ role, permissions: named }) => role === undefined || (role === 'custom') === (named !== undefined),
        customNeeds,
      ),
    data: one,
    errors: ['permission_missing'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/members/:id',
    access: 'owner',
    permission: 'members:write',
    allApps: true,
    confirm: 'always',
    tag,
    summary: 'Remove a member, in open windows too, or withdraw an invitation',
    params: idParams,
    data: none,
  }),
  makeOwner: endpoint({
    method: 'POST',
    path: '/members/:id/make-owner',
    access: 'owner',
    permission: 'ownership',
    confirm: 'always',
    tag,
    summary:
      'Hand your vendor account over to a member; you become a manager, all API keys are revoked, and open invitations withdrawn',
    params: idParams,
    body: none,
    data: none,
    errors: ['invitation_open', 'owns_vendor'],
  }),
}

export type Member = z.output<typeof member>
export type MemberRole = z.output<typeof memberRole>
