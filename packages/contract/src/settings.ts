import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { none, signInPassword } from './shared.ts'

/** Settings for all apps of an owner. */
export const platformSettings = z.strictObject({ pauseApplications: z.boolean(), hwidLock: z.boolean() })

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
    summary: 'Change one or both platform settings',
    body: platformSettings
      .partial()
      .refine((body) => Object.values(body).some((value) => value !== undefined), 'Nothing to change'),
    data: platformSettings,
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
