import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { none, signInPassword } from './shared.ts'

/** Settings for all apps of an owner. */
export const platformSettings = z.strictObject({
  pauseApplications: z.boolean(),
  hwidLock: z.boolean(),
  requireSecondFactor: z
    .boolean()
    .describe(
      'members without a second factor can do nothing else than add one; only the owner changes this',
    ),
})

const tag = 'Settings'

export const settings = {
  get: endpoint({
    method: 'GET',
    path: '/settings',
    access: 'owner',
    permission: 'settings:read',
    tag,
    summary: 'Get the platform settings',
    data: platformSettings,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/settings',
    access: 'owner',
    permission: 'settings:write',
    allApps: true,
    tag,
    summary: 'Change platform settings',
    body: platformSettings
      .partial()
      .refine((body) => Object.values(body).some((value) => value !== undefined), 'Nothing to change'),
    data: platformSettings,
    errors: ['api_key_not_allowed', 'permission_missing', 'confirm_identity'],
  }),
  reset: endpoint({
    method: 'POST',
    path: '/settings/reset',
    access: 'owner',
    permission: 'ownership',
    allApps: true,
    job: true,
    tag,
    summary:
      'Delete all apps, licenses, end users, resellers and settings, and end all sessions; the password is optional in the first ten minutes of a session',
    body: z.strictObject({ password: signInPassword.optional() }),
    data: none,
    errors: ['reauthenticate', 'rate_limited', 'busy'],
  }),
}
