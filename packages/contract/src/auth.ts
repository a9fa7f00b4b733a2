import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { permissions, roles } from './permissions.ts'
import { orSecondFactor, secondFactorCalls } from './second-factor.ts'
import { email, isoTime, none, password, personName, price, resetToken, signInPassword } from './shared.ts'

export const plan = z.enum(['free', 'premium'])

/** The state of an owner's plan; null means unlimited. */
export const subscription = z.strictObject({
  plan,
  expiryDate: isoTime.nullable(),
  subscriptionId: z.null().describe('always null: orders have no subscription at the provider'),
  hasActiveSubscription: z.boolean(),
  source: z
    .enum(['payment', 'grant', 'server'])
    .nullable()
    .describe(
      'where premium comes from: bought, granted by the operator, or for every account; null if free',
    ),
  appLimit: z.int().nullable(),
  licenseLimitPerApp: z.int().nullable(),
  orderId: z.string().nullable().describe('of the last payment'),
  paymentId: z.string().nullable().describe('of the last payment'),
  cancelledAt: isoTime.nullable().describe('when the current premium plan was cancelled'),
  endedAt: isoTime.nullable().describe('when premium ended; null while it is active'),
  moneyBack: z
    .strictObject({ ...price.shape, until: isoTime })
    .nullable()
    .describe('what cancelling refunds, and until when'),
})

/** The signed-in person at one vendor account, whose plan and apps these are; -1 means unlimited. */
export const user = z.strictObject({
  _id: z.string().describe('of the person'),
  name: z.string(),
  email: z.string(),
  emailConfirmed: z.boolean().describe('whether a link that was mailed to the address was opened'),
  role: z.enum(roles),
  permissions: z.array(z.enum(permissions)).max(permissions.length),
  allApps: z.boolean().describe('whether the person works on all apps of the vendor account'),
  vendor: z
    .strictObject({
      _id: z.string(),
      name: z.string(),
      paused: z.boolean().describe('whether Pause Applications is on'),
    })
    .describe('the vendor account that the token works on'),
  plan,
  maxApps: z.int(),
  maxLicensesPerApp: z.int(),
  maxResellers: z.int(),
  apps: z
    .array(z.strictObject({ _id: z.string(), name: z.string(), appId: z.string() }))
    .max(limits.pageSizeMax)
    .describe(`the newest ${limits.pageSizeMax} apps`),
  appCount: z.int().describe('all apps'),
  paymentStatus: z.enum(['paid', 'unpaid']).describe('paid while a term that was bought runs'),
  createdAt: isoTime,
  subscription,
})

export const session = z.strictObject({ token: z.string(), user })
const tag = 'Auth'

export const auth = {
  register: endpoint({
    method: 'POST',
    path: '/auth/register',
    access: 'public',
    hashes: true,
    tag,
    summary: 'Create a vendor account and sign in',
    body: z.strictObject({
      name: personName,
      email,
      password,
      link: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('the token of the link for the first owner, where registration is closed'),
    }),
    data: session,
    status: 201,
    errors: ['email_taken', 'registration_closed', 'first_owner_link_invalid', 'rate_limited', 'busy'],
  }),
  login: endpoint({
    method: 'POST',
    path: '/auth/login',
    access: 'public',
    hashes: true,
    tag,
    summary: 'Sign in as a vendor',
    body: z.strictObject({ email, password: signInPassword }),
    data: orSecondFactor(session),
    errors: ['invalid_credentials', 'no_vendor', 'vendor_disabled', 'rate_limited', 'busy'],
  }),
  profile: endpoint({
    method: 'GET',
    path: '/auth/profile',
    access: 'owner',
    permission: 'self',
    tag,
    summary: 'Get the signed-in vendor',
    data: z.strictObject({ user }),
  }),
  logout: endpoint({
    method: 'POST',
    path: '/auth/logout',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    tag,
    summary: 'Revoke the token of this request',
    body: none,
    data: none,
  }),
  forgotPassword: endpoint({
    method: 'POST',
    path: '/auth/forgot-password',
    access: 'public',
    tag,
    summary:
      'Mail a link for choosing a new password; the response is the same whether or not the account exists',
    body: z.strictObject({ email }),
    data: none,
    errors: ['mail_off', 'rate_limited', 'busy'],
  }),
  resetPassword: endpoint({
    method: 'POST',
    path: '/auth/reset-password',
    access: 'public',
    hashes: true,
    tag,
    summary: 'Choose a new password with the token of a mailed link; ends all sessions and starts a new one',
    body: z.strictObject({ token: resetToken, password }),
    data: orSecondFactor(session),
    errors: ['reset_link_invalid', 'no_vendor', 'vendor_disabled', 'rate_limited', 'busy'],
  }),
  changePassword: endpoint({
    method: 'PUT',
    path: '/auth/password',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    tag,
    summary: 'Change the password; ends all other sessions',
    body: z.strictObject({ currentPassword: signInPassword, newPassword: password }),
    data: z.strictObject({ token: z.string() }),
    errors: ['rate_limited', 'busy'],
  }),
  changeEmail: endpoint({
    method: 'PUT',
    path: '/auth/email',
    access: 'owner',
    permission: 'self',
    unbudgeted: 'own account',
    tag,
    summary: 'Change the email address',
    body: z.strictObject({ email, password: signInPassword }),
    data: z.strictObject({ user }),
    errors: ['email_taken', 'rate_limited', 'busy'],
  }),
}

export const secondFactor = secondFactorCalls('/auth', session)

export type User = z.output<typeof user>
export type Subscription = z.output<typeof subscription>
