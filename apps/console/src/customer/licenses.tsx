/** @jsxImportSource preact */
import type { CustomerSelf, OwnLicense, OwnOrder, OwnRights } from '@keyward/contract'
import { Card, Copyable, Fact, Rows, useCustomer } from './context.tsx'
import { fill } from './format.ts'

const day = 86_400_000
const tones = { unused: '', active: 'good', expired: 'warning', banned: 'bad' }

/** What was bought, and until when. */
export function Licenses({ me: { licenses } }: { me: CustomerSelf }) {
  const words = useCustomer().texts.licenses
  return (
    <Card title={licenses.length > 1 ? words.title : words.one}>
      <Rows none={words.none}>
        {licenses.map((license) => (
          <License key={license._id} license={license} />
        ))}
      </Rows>
    </Card>
  )
}

function License({ license }: { license: OwnLicense }) {
  const { texts, formats, page } = useCustomer()
  const words = texts.licenses
  const { status, features, expiresAt, duration, links } = license
  const end =
    expiresAt !== null
      ? formats.date(expiresAt)
      : duration === null || license.startedAt !== null
        ? words.never
        : fill(words.fromFirstUse, { duration: formats.duration(duration) })
  const graceEnd = expiresAt !== null && Date.parse(expiresAt) + license.graceDays * day
  return (
    <li>
      <div class="row">
        <h3>{license.type ?? page.app.name}</h3>
        <span class={`badge ${tones[status]}`}>
          {license.test ? `${words[status]} · ${words.test}` : words[status]}
        </span>
      </div>
      <dl class="facts">
        <Fact term={words.key}>
          <Copyable value={license.key} />
        </Fact>
        <Fact term={words.until}>{end}</Fact>
        {features.length > 0 && <Fact term={words.features}>{features.join(', ')}</Fact>}
      </dl>
      {license.inGrace && graceEnd && (
        <p class="notice warning">{fill(words.graceUntil, { date: formats.date(graceEnd) })}</p>
      )}
      {(status === 'active' || status === 'expired') && (
        <div class="links">
          <Shop name={words.renew} url={links.renew} />
          {links.upgrades.map((upgrade) => (
            <Shop key={upgrade} {...upgrade} />
          ))}
          <Shop name={words.buy} url={links.buy} />
        </div>
      )}
    </li>
  )
}

const Shop = ({ name, url }: { name: string; url: string | null }) =>
  url && (
    <a class="button" href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  )

/** What keys that were added to the licenses allow, each until its own end. */
export function Added({ me: { clients } }: { me: CustomerSelf }) {
  const words = useCustomer().texts.licenses
  const rows = clients.flatMap(({ username, rights }) =>
    rights.map((one) => <AddedKey key={one} rights={one} username={clients.length > 1 ? username : null} />),
  )
  return (
    rows.length > 0 && (
      <Card title={words.added}>
        <Rows none="">{rows}</Rows>
      </Card>
    )
  )
}

function AddedKey({ rights, username }: { rights: OwnRights; username: string | null }) {
  const { texts, formats } = useCustomer()
  const { licenses: words, devices: places } = texts
  const { features, devices, seats, until } = rights
  const most = seats ?? devices
  return (
    <li>
      {username !== null && <h3>{username}</h3>}
      <dl class="facts">
        {features.length > 0 && <Fact term={words.features}>{features.join(', ')}</Fact>}
        <Fact term={seats === null ? places.title : words.seats}>
          {most < 0 ? words.unlimited : formats.number(most)}
        </Fact>
        <Fact term={words.until}>{until === null ? words.asLicense : formats.date(until)}</Fact>
      </dl>
    </li>
  )
}

const orderTones = { fulfilled: 'good', waiting: '', refunded: 'warning', disputed: 'warning' }

/** The orders of a person, with their keys. */
export function Orders({ orders }: { orders: readonly OwnOrder[] }) {
  const words = useCustomer().texts.orders
  return (
    <Card title={words.title}>
      <Rows none={words.none}>
        {orders.map((order) => (
          <Order key={order} {...order} />
        ))}
      </Rows>
    </Card>
  )
}

function Order({ order, state, createdAt, amount, currency, lines, licenses }: OwnOrder) {
  const { texts, formats } = useCustomer()
  const price = amount !== null && currency !== null && formats.money(amount, currency)
  const bought = lines.map(({ product, type, quantity }) =>
    quantity === 1 ? (type ?? product) : `${formats.number(quantity)} × ${type ?? product}`,
  )
  return (
    <li>
      <div class="row">
        <h3>{fill(texts.orders.number, { order })}</h3>
        <span class={`badge ${orderTones[state]}`}>{texts.orders[state]}</span>
      </div>
      <p class="muted small">{[formats.date(createdAt), price, ...bought].filter(Boolean).join(' · ')}</p>
      {licenses.map((key) => (
        <Copyable key={key} value={key} />
      ))}
    </li>
  )
}
