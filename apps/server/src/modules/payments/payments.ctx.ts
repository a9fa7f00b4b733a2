import type { Config } from '../../config.ts'
import type { Ctx } from '../../core/ctx.ts'
import { problem } from '../../core/problem.ts'
import { mockProvider } from './payments.mock.ts'
import { type PaymentProvider, ProviderError } from './payments.provider.ts'
import { createRazorpay } from './payments.razorpay.ts'

export interface Payments {
  ctx: Ctx
  /** Undefined while payments are off. */
  provider: PaymentProvider | undefined
  /** Where what the provider refused, or did not answer, is written down. */
  onError: (error: unknown) => void
}

export function createProvider({ payments }: Pick<Config, 'payments'>): PaymentProvider | undefined {
  const { mode, keyId, keySecret, webhookSecret, apiUrl } = payments
  if (mode === 'mock') return mockProvider
  if (mode === 'off' || keyId === undefined || keySecret === undefined) return undefined
  return createRazorpay({ keyId, keySecret, webhookSecret, apiUrl })
}

export function requireProvider({ provider }: Payments): PaymentProvider {
  if (!provider) throw problem('payments_off')
  return provider
}

/** What a caller is told when the provider could not be asked; the cause goes to the log. */
export async function asking<T>({ onError }: Payments, work: () => Promise<T>, message?: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    onError(error)
    throw problem('payment_provider_unavailable', message === undefined ? {} : { message })
  }
}
