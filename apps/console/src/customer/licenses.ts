import type { CustomerSelf, OwnEndUser, OwnLicense, OwnOrder, OwnRights } from '@keyward/contract'
import { type Context, card, copyable, facts, paragraph } from './context.ts'
import { h } from './dom.ts'
import { fill } from './format.ts'

const day = 86_400_000
const tones = { unused: '', active: 'good', expired: 'warning', banned: 'bad' }

/** What was bought, and until when. */
export function licensesCard(context: Context, { licenses }: CustomerSelf) {
  const { licenses: words } = context.texts
  return card(
    licenses.length > 1 ? words.title : words.one,
    licenses.length === 0
      ? paragraph(words.none, 'muted')
      : h('ul', { class: 'rows' }, ...licenses.map((license) => licenseRow(context, license))),
  )
}

function licenseRow(context: Context, license: OwnLicense) {
  const { licenses: words } = context.texts
  const { key, type, status, features, test } = license
  const state = test ? `${words[status]} · ${words.test}` : words[status]
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'row' },
      h('h3', {}, type ?? context.page.app.name),
      h('span', { class: `badge ${tones[status]}` }, state),
    ),
    facts([
      [words.key, copyable(context, key)],
      [words.until, endOf(context, license)],
      features.length > 0 ? [words.features, features.join(', ')] : undefined,
    ]),
    graceOf(context, license),
  )
}

function endOf({ texts: { licenses: words }, formats }: Context, license: OwnLicense) {
  if (license.expiresAt !== null) return formats.date(license.expiresAt)
  if (license.duration === null || license.startedAt !== null) return words.never
  return fill(words.fromFirstUse, { duration: formats.duration(license.duration) })
}

function graceOf(
  { texts: { licenses: words }, formats }: Context,
  { inGrace, expiresAt, graceDays }: OwnLicense,
) {
  if (!inGrace || expiresAt === null) return null
  const end = new Date(Date.parse(expiresAt) + graceDays * day).toISOString()
  return paragraph(fill(words.graceUntil, { date: formats.date(end) }), 'notice warning')
}

/** What keys that were added to the licenses allow, each until its own end. */
export function addedCard(context: Context, clients: readonly OwnEndUser[]) {
  const rows = clients.flatMap(({ username, rights }) =>
    rights.map((one) => addedRow(context, one, clients.length > 1 ? username : null)),
  )
  return rows.length > 0 && card(context.texts.licenses.added, h('ul', { class: 'rows' }, ...rows))
}

function addedRow(
  { texts: { licenses: words, devices: places }, formats }: Context,
  { features, devices, seats, until }: OwnRights,
  username: string | null,
) {
  const most = seats ?? devices
  return h(
    'li',
    {},
    username !== null && h('h3', {}, username),
    facts([
      features.length > 0 ? [words.features, features.join(', ')] : undefined,
      [seats === null ? places.title : words.seats, most < 0 ? words.unlimited : formats.number(most)],
      [words.until, until === null ? words.asLicense : formats.date(until)],
    ]),
  )
}

const orderTones = { fulfilled: 'good', waiting: '', refunded: 'warning', disputed: 'warning' }

/** The orders of a person, with their keys. */
export function ordersCard(context: Context, orders: readonly OwnOrder[]) {
  const { orders: words } = context.texts
  return card(
    words.title,
    orders.length === 0
      ? paragraph(words.none, 'muted')
      : h('ul', { class: 'rows' }, ...orders.map((order) => orderRow(context, order))),
  )
}

function orderRow(
  context: Context,
  { order, state, createdAt, amount, currency, lines, licenses }: OwnOrder,
) {
  const { texts, formats } = context
  const bought = lines.map(({ product, type, quantity }) => {
    const name = type ?? product
    return quantity === 1 ? name : `${formats.number(quantity)} × ${name}`
  })
  const price = amount === null || currency === null ? undefined : formats.money(amount, currency)
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'row' },
      h('h3', {}, fill(texts.orders.number, { order })),
      h('span', { class: `badge ${orderTones[state]}` }, texts.orders[state]),
    ),
    paragraph([formats.date(createdAt), price, ...bought].filter(Boolean).join(' · '), 'muted small'),
    ...licenses.map((key) => copyable(context, key)),
  )
}
