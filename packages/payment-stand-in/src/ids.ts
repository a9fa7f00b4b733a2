import { randomInt } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Fourteen alphanumerics, the ending of every id of the provider. */
export function makeCode(): string {
  return Array.from({ length: 14 }, () => alphabet[randomInt(alphabet.length)]).join('')
}

/** An id in the provider's format: `order_`, `pay_`, `rfnd_` or `disp_` and fourteen alphanumerics. */
export function makeId(prefix: 'order' | 'pay' | 'rfnd' | 'disp' | 'acc'): string {
  return `${prefix}_${makeCode()}`
}
