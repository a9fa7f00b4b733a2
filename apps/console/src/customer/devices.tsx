/** @jsxImportSource preact */
import type { CustomerSelf, DataOf, OwnEndUser } from '@keyward/contract'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { CallError, type Calls } from './calls.ts'
import { Card, type Customer, explain, Rows, useCustomer } from './context.tsx'
import { fill } from './format.ts'

export type OwnDevice = DataOf<Calls['devices']>['devices'][number]

/** The devices of each end user of the customer, with a button that frees one. */
export function Devices({ me: { clients }, devices }: { me: CustomerSelf; devices: readonly OwnDevice[] }) {
  const { texts, page } = useCustomer()
  const words = texts.devices
  if (clients.length === 0)
    return (
      <Card title={words.title}>
        <Rows none={words.none}>{[]}</Rows>
      </Card>
    )
  return clients.map((client) => {
    const own = devices.filter((device) => device.client === client._id)
    const name = clients.length > 1 ? client.username : null
    return (
      <Card key={client._id} title={name === null ? words.title : fill(words.of, { name })}>
        <Places client={client} />
        <Rows none={words.none}>
          {own.map((device) => (
            <Device key={device._id} client={client} device={device} />
          ))}
        </Rows>
        {own.some(({ offline }) => offline) && (
          <p class="muted small">{fill(words.offlineHelp, { app: page.app.name })}</p>
        )}
      </Card>
    )
  })
}

/** How many devices there may be, and whether one can be freed here. */
function Places({ client: { devices, floating, freed } }: { client: OwnEndUser }) {
  const { texts, formats, page } = useCustomer()
  const words = texts.devices
  const count = { used: formats.number(devices.used), limit: formats.number(devices.limit) }
  return (
    <>
      <p class="muted">
        {floating ? words.floating : fill(devices.limit < 0 ? words.usedUnlimited : words.used, count)}
      </p>
      {freed.limit > 0 && freed.until !== null ? (
        <p class="notice warning">{fill(words.limitReached, { date: formats.moment(freed.until) })}</p>
      ) : (
        <p class="muted">{freed.limit === 0 ? fill(words.off, { app: page.app.name }) : words.help}</p>
      )}
    </>
  )
}

function Device({ client: { freed }, device }: { client: OwnEndUser; device: OwnDevice }) {
  const { texts, formats } = useCustomer()
  const [isAsking, setAsking] = useState(false)
  const words = texts.devices
  const { system, offline, offlineUntil, freedUntil } = device
  const name = device.name ?? words.unnamed
  const canFree = freed.limit > 0 && freed.until === null && freedUntil === null && !offline
  const lastSeen = fill(words.lastSeen, { date: formats.date(device.lastSeenAt) })
  return (
    <li class="row">
      <div>
        <h3>{name}</h3>
        <p class="muted small">{[system, lastSeen].filter(Boolean).join(' · ')}</p>
        {offline && (
          <p class="small">
            {offlineUntil ? fill(words.offlineUntil, { date: formats.date(offlineUntil) }) : words.offline}
          </p>
        )}
        {freedUntil && <p class="small">{fill(words.freedUntil, { date: formats.moment(freedUntil) })}</p>}
      </div>
      {canFree && (
        <button
          type="button"
          aria-label={fill(words.freeNamed, { device: name })}
          onClick={() => setAsking(true)}
        >
          {words.free}
        </button>
      )}
      {isAsking && <FreeDialog id={device._id} name={name} close={() => setAsking(false)} />}
    </li>
  )
}

function FreeDialog({ id, name, close }: { id: string; name: string; close: () => void }) {
  const customer = useCustomer()
  const { page: general, devices: words } = customer.texts
  const [isBusy, setBusy] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const free = async () => {
    if (isBusy) return
    setBusy(true)
    const problem = await customer.ask('freeDevice', { params: { id } }).then(
      () => undefined,
      (error) => problemOf(customer, error),
    )
    dialog.current?.close()
    await customer.reload()
    if (problem) customer.say(problem, 'bad')
    else customer.say(fill(words.freed, { device: name }))
  }
  return (
    <dialog ref={dialog} aria-labelledby="free-title" aria-describedby="free-help" onClose={close}>
      <div class="dialog">
        <h2 id="free-title">{fill(words.confirm, { device: name })}</h2>
        <p id="free-help">{words.confirmHelp}</p>
        <div class="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            {general.cancel}
          </button>
          <button type="button" class="primary" onClick={free}>
            {words.confirmYes}
          </button>
        </div>
      </div>
    </dialog>
  )
}

function problemOf(customer: Customer, error: unknown) {
  const { problems, devices: words } = customer.texts
  const app = customer.page.app.name
  const code = error instanceof CallError ? error.code : undefined
  if (code === 'device_self_service_off') return fill(words.off, { app })
  if (code === 'device_free_limit') return problems.freeLimit
  if (code === 'device_activated_offline') return fill(words.offlineHelp, { app })
  return code === 'not_found' ? problems.deviceGone : explain(customer, error)
}
