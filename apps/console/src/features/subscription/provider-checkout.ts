import type { Order } from '@keyward/contract'
import { serverNow } from '../../lib/api/server-time.ts'

const source = 'https://checkout.razorpay.com/v1/checkout.js'

/** The checkout's report of a payment. */
export interface Paid {
  razorpay_order_id: string
  razorpay_payment_id: string
  razorpay_signature: string
}

interface Options {
  key: string
  amount: number
  currency: string
  order_id: string
  name: string
  description: string
  prefill: { name: string; email: string }
  theme: { color: string }
  /** Seconds. */
  timeout: number
  handler: (paid: Paid) => void
  modal: { ondismiss: () => void }
}

interface ProviderCheckout {
  open: () => void
  close?: () => void
  on: (event: 'payment.failed', listener: (failure: { error?: { description?: string } }) => void) => void
}

declare global {
  interface Window {
    Razorpay?: new (options: Options) => ProviderCheckout
  }
}

let loading: Promise<boolean> | undefined

/** Loads the provider's script once. Returns false on failure; the next call retries. */
export function loadCheckout(): Promise<boolean> {
  if (window.Razorpay) return Promise.resolve(true)
  loading ??= new Promise((resolve) => {
    const script = document.createElement('script')
    const end = () => {
      const loaded = window.Razorpay !== undefined
      if (!loaded) {
        script.remove()
        loading = undefined
      }
      resolve(loaded)
    }
    script.src = source
    script.async = true
    script.onload = end
    script.onerror = end
    document.head.append(script)
  })
  return loading
}

interface CheckoutInput {
  order: Order
  buyer: { name: string; email: string }
  /** Closes the checkout, which then returns undefined. */
  signal: AbortSignal
  onDismiss: () => void
  /** Called when an attempt fails; the checkout itself offers a retry. */
  onFailed: (reason: string | undefined) => void
}

/** Opens the provider's checkout and returns the payment, or undefined when the buyer closes it. */
export function openCheckout({ order, buyer, signal, onDismiss, onFailed }: CheckoutInput) {
  return new Promise<Paid | undefined>((resolve) => {
    const checkout = new window.Razorpay!({
      key: order.keyId,
      amount: order.amount,
      currency: order.currency,
      order_id: order.orderId,
      name: 'Keyward',
      description: order.planDuration === 'yearly' ? 'Premium, yearly' : 'Premium, monthly',
      prefill: { name: buyer.name, email: buyer.email },
      theme: { color: getComputedStyle(document.documentElement).getPropertyValue('--accent') },
      timeout: secondsLeft(order.expiresAt, serverNow()),
      handler: resolve,
      modal: {
        ondismiss: () => {
          if (!signal.aborted) onDismiss()
          resolve(undefined)
        },
      },
    })
    checkout.on('payment.failed', ({ error }) => onFailed(error?.description))
    signal.addEventListener('abort', () => {
      checkout.close?.()
      resolve(undefined)
    })
    checkout.open()
  })
}

export function secondsLeft(expiresAt: string, now: number): number {
  return Math.max(1, Math.floor((Date.parse(expiresAt) - now) / 1000))
}
