import { z } from 'zod'
import { toPlainText } from './app-mail-text.ts'

// What a shop tells of a payment is used as far as it can be: how a text looks, or how a number is written, refuses nothing
// that was paid.

const isPlain = (text: string): boolean => text !== '' && text.length <= 200 && !/[\p{Cc}\p{Cs}]/u.test(text)

/** The text as it was told, or in one line of 200 characters that can be stored and shown; empty if nothing is left. */
export function toToldText(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const text = String(value).trim()
  return isPlain(text) ? text : toPlainText(text)
}

/** The number of an order: a part of a long one that is different for each order. */
export function toOrderNumber(value: string | number): string {
  const text = toToldText(value)
  const long = String(value).trim()
  return long.length > 200 ? toToldText(`${long.slice(0, 99)}…${long.slice(-99)}`) : text
}

const wholeMost = 1e12

/** A whole number that is not negative, also one written as text; undefined if it is none. */
function toWhole(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\s*\d{1,13}(?:\.\d{1,13})?\s*$/.test(value)
  const number = typeof value === 'number' || isText ? Number(value) : Number.NaN
  return number >= 0 && number <= wholeMost ? number : undefined
}

const told = <T>(read: (value: unknown) => T) => z.unknown().optional().transform(read)

/** Null where nothing usable was told. */
export const toldText = told((value) => toToldText(value) || null)
export const toldAmount = told((value) => {
  const whole = toWhole(value)
  return whole === undefined ? null : Math.round(whole)
})
export const toldCurrency = told((value) => {
  const currency = toToldText(value).toUpperCase()
  return /^[A-Z]{3,10}$/.test(currency) ? currency : null
})
export const toldFlag = told((value) => value === true || value === 1 || value === 'true' || value === '1')

/** What a line is called whose product the shop does not name. */
const unnamed = '(without a name)'

/** The lines of an order; more than `most` become one whose product no shop knows, so that the order waits. */
export const toldLines = (most: number) =>
  told((value) => {
    const lines = (Array.isArray(value) ? value : []).map(toLine).filter(({ quantity }) => quantity > 0)
    return lines.length <= most
      ? lines
      : [...lines.slice(0, most), { product: '(more products)', quantity: lines.length - most }]
  })

function toLine(value: unknown): { product: string; quantity: number } {
  const { product, quantity } = (value ?? {}) as { product?: unknown; quantity?: unknown }
  return { product: toToldText(product) || unnamed, quantity: toUnits(quantity) }
}

/** How many were bought: one where nothing usable was told, none of a line that was returned. */
function toUnits(value: unknown): number {
  if (typeof value === 'number' && value <= 0) return 0
  return Math.ceil(toWhole(value) ?? 1)
}
