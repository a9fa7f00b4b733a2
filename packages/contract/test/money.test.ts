import { expect, test } from 'vitest'
import { formatAmount } from '../src/money.ts'

test.each([
  [69_900, 'INR', '₹699'],
  [6990, 'INR', '₹69.90'],
  [1_000_000_00, 'INR', '₹10,00,000'],
  [100, 'USD', '$1'],
  [1980, 'JPY', '¥1,980'],
  [12_000, 'KRW', '₩12,000'],
  [12_345, 'KWD', 'KWD\u00a012.345'],
  [12_000, 'KWD', 'KWD\u00a012'],
  [1999, 'USD', '$19.99'],
  [500, 'COINS!', '5.00 COINS!'],
  [500, null, '5.00'],
])('formats %d in %s as %s', (amount, currency, text) => {
  expect(formatAmount(amount, currency)).toBe(text)
})
