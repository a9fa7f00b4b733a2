import { own, readJsonLists } from '@keyward/contract/imported-files'
import type { ImportedEnd, ImportedLicense } from '../rows.ts'
import type { Collector } from './collector.ts'
import {
  banOf,
  daysOf,
  isFlagged,
  isoDurationOf,
  type Lasting,
  numberOf,
  readMoment,
  textOf,
} from './values.ts'

/** Products whose licenses are JSON lists with names of their own. */
const products = {
  cryptlex: {
    key: 'key',
    isOne: (value: unknown) =>
      own(value, 'allowedActivations') !== undefined || own(value, 'revoked') !== undefined,
    devicesMax: 'allowedActivations',
    end: (value: unknown) =>
      toDate(own(value, 'expiresAt')) ?? toDuration(isoDurationOf(own(value, 'subscriptionInterval'))),
    banned: ['revoked', 'suspended'],
  },
  lukittu: {
    key: 'licenseKey',
    isOne: (value: unknown) =>
      own(value, 'licenseKey') !== undefined && own(value, 'expirationType') !== undefined,
    devicesMax: 'hwidLimit',
    end: (value: unknown) => {
      const type = own(value, 'expirationType')
      if (type === 'NEVER') return 'never'
      return toDate(own(value, 'expirationDate')) ?? toDuration(daysOf(own(value, 'expirationDays')))
    },
    banned: ['suspended'],
  },
  licensegate: {
    key: 'licenseKey',
    isOne: (value: unknown) =>
      own(value, 'licenseKey') !== undefined &&
      typeof own(value, 'active') === 'boolean' &&
      ['ipLimit', 'licenseScope', 'validationPoints'].some((name) => own(value, name) !== undefined),
    // It counts addresses, not devices.
    devicesMax: undefined,
    end: (value: unknown) => toDate(own(value, 'expirationDate')),
    banned: [],
  },
} as const
export type Product = keyof typeof products

export const isProduct = (preset: string): preset is Product => Object.hasOwn(products, preset)

/** The product whose licenses the file lists. */
export function productOf(text: string): Product | undefined {
  let seen = 0
  for (const { value } of readJsonLists(text)) {
    for (const [name, { isOne }] of Object.entries(products)) if (isOne(value)) return name as Product
    seen += 1
    if (seen >= 20) return undefined
  }
  return undefined
}

export function addProductFile(product: Product, file: string, text: string, to: Collector): void {
  const { key: keyName, devicesMax, end: endOf, banned, isOne } = products[product]
  for (const { value, place: line, problem } of readJsonLists(text)) {
    if (to.overflowed) return
    const key = textOf(own(value, keyName)) ?? ''
    if (problem === undefined && key === '' && !isOne(value)) continue
    const row: ImportedLicense = { kind: 'license', file, line, key, status: 'unused' }
    const count = devicesMax && numberOf(own(value, devicesMax))
    if (typeof count === 'number' && Number.isInteger(count) && count > 0) row.devicesMax = count
    const email = textOf(own(own(value, 'user'), 'email')) ?? textOf(own(own(value, 'customer'), 'email'))
    const texts = [own(value, 'name'), own(value, 'notes')].flatMap((text) => textOf(text) ?? [])
    if (email !== undefined) row.note = email
    else if (product === 'licensegate' && texts.length > 0) row.note = texts.join(': ')
    const reference = textOf(own(value, 'id'))
    if (reference !== undefined) row.reference = reference.slice(0, 100)
    const ban = (banned as readonly string[]).find(
      (name) => isFlagged(own(value, name)) || banOf(own(value, name)) !== null,
    )
    if (ban !== undefined) {
      row.status = 'banned'
      row.banReason = ban === 'revoked' ? 'Revoked' : 'Suspended'
    }
    if (product === 'licensegate' && own(value, 'active') === false) {
      row.status = 'banned'
      row.banReason = 'Inactive'
    }
    const end = endOf(value) ?? 'never'
    const wrong = problem ?? (end === 'wrong' ? 'Its expiry is no date' : undefined)
    to.addLicense(wrong === undefined ? { ...row, end: end as ImportedEnd } : { ...row, problem: wrong })
  }
}

function toDate(value: unknown): ImportedEnd | 'wrong' | undefined {
  if (textOf(value) === undefined) return undefined
  const moment = readMoment(value)
  return 'ms' in moment ? { at: moment.ms } : 'wrong'
}

const toDuration = (lasts: Lasting | undefined): ImportedEnd | undefined =>
  lasts === undefined || lasts === 'never' ? lasts : { seconds: Math.round(lasts / 1000) }
