import { expect, test } from 'vitest'
import { formatAmount } from '../src/money.ts'

test.each([
  [69_900, 'INR', '₹699'],
  [6990, 'INR', '₹69.90'],
  [1_000_000_00, 'INR', '₹10,00,000'],
  [100, 'USD', '$1'],
])('formats %d in %s as %s', (amount, currency, text) => {
  expect(formatAmount(amount, currency)).toBe(text)
})
