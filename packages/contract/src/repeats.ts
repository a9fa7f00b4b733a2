import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'

/** Fields of answers that show something once. They must not be stored for a repeat. */
const shownOnce = ['token', 'secret', 'password', 'key', 'link', 'uri', 'recoveryCodes']

/**
 * Whether a call accepts an `Idempotency-Key`: every write of owners and resellers, except those about the own account
 * and sessions, the reset of everything (which deletes stored answers, too), and those that return a secret or a link.
 */
export const acceptsIdempotencyKey = (endpoint: Endpoint): boolean =>
  (endpoint.access === 'owner' || endpoint.access === 'reseller') &&
  endpoint.method !== 'GET' &&
  !isAboutOwnAccount(endpoint) &&
  endpoint.path !== '/settings/reset' &&
  !returnsSecret(endpoint)

const isAboutOwnAccount = ({ path }: Endpoint): boolean =>
  path.startsWith('/auth/') ||
  (path.startsWith('/resellers/auth/') && !path.startsWith('/resellers/auth/licenses'))

const returnsSecret = ({ path, data }: Endpoint): boolean =>
  path.endsWith('/rotate-secret') ||
  (data instanceof z.ZodObject && shownOnce.some((field) => field in data.shape))
