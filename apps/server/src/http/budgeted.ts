import type { Endpoint } from '@keyward/contract'

const ofOwnSessions = /^\/resellers\/auth\/(logout|sessions|confirm)(\/|$)/

/**
 * Whether a call is refused once its account has used up its write budget: everything that changes something, except
 * ending sessions, changes of the own account, and payments.
 */
export const isBudgeted = ({ access, method, permission, path }: Endpoint): boolean =>
  (access === 'owner' || access === 'reseller') &&
  method !== 'GET' &&
  permission !== 'self' &&
  permission !== 'billing:write' &&
  !ofOwnSessions.test(path)
