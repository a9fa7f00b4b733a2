// On SQLite alone: what it asserts is decided before any SQL.
import { expect, test } from 'vitest'
import { startServer, type TestServer } from '../harness.ts'
import { startPaying } from '../payment-actor.ts'

const headersOf = async ({ server }: TestServer, path: string) => {
  const { headers } = await server.inject({ method: 'GET', url: path })
  return {
    policy: String(headers['content-security-policy']),
    opener: headers['cross-origin-opener-policy'],
  }
}

test("allows the payment provider's origins on the checkout page only", async () => {
  const paying = await startPaying()
  try {
    const { policy, opener } = await headersOf(paying.on, '/subscription')
    expect(policy).toContain("script-src 'self' https://checkout.razorpay.com;")
    expect(policy).toContain('frame-src https://checkout.razorpay.com https://api.razorpay.com;')
    expect(policy).toContain("frame-ancestors 'none'")
    expect(opener).toBe('same-origin-allow-popups')
    for (const path of ['/', '/dashboard', '/subscription/x', '/docs', '/reseller/auth']) {
      const other = await headersOf(paying.on, path)
      expect(other.policy).toContain("script-src 'self';")
      expect(other.policy).not.toContain('razorpay')
      expect(other.opener).toBe('same-origin')
    }
  } finally {
    await paying.close()
  }
})

test('allows no payment origin while payments are simulated', async () => {
  const on = await startServer()
  try {
    expect((await headersOf(on, '/subscription')).policy).not.toContain('razorpay')
  } finally {
    await on.close()
  }
})
