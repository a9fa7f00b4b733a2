import type { CustomerSelf, DataOf, endpoints, OwnEndUser } from '@keyward/contract'
import { CallError, call } from './calls.ts'
import { type Context, card, explain, paragraph } from './context.ts'
import { h } from './dom.ts'
import { fill } from './format.ts'

export type OwnDevice = DataOf<(typeof endpoints)['customerPage']['devices']>['devices'][number]

/** The devices of each end user of the customer, with a button that frees one. */
export function devicesCards(context: Context, { clients }: CustomerSelf, devices: readonly OwnDevice[]) {
  const { devices: words } = context.texts
  if (clients.length === 0) return [card(words.title, paragraph(words.none, 'muted'))]
  return clients.map((client) => {
    const own = devices.filter((device) => device.client === client._id)
    const name = clients.length > 1 ? client.username : null
    return card(
      name === null ? words.title : fill(words.of, { name }),
      ...places(context, client),
      own.length === 0
        ? paragraph(words.none, 'muted')
        : h('ul', { class: 'rows' }, ...own.map((device) => deviceRow(context, client, device))),
      own.some(({ offline }) => offline) &&
        paragraph(fill(words.offlineHelp, { app: context.page.app.name }), 'muted small'),
    )
  })
}

/** How many devices there may be, and whether one can be freed here. */
function places({ texts: { devices: words }, formats, page }: Context, client: OwnEndUser) {
  const { used, limit } = client.devices
  const count = {
    used: formats.number(used),
    limit: formats.number(limit),
  }
  return [
    paragraph(
      client.floating ? words.floating : fill(limit < 0 ? words.usedUnlimited : words.used, count),
      'muted',
    ),
    client.freed.limit === 0
      ? paragraph(fill(words.off, { app: page.app.name }), 'muted')
      : client.freed.until !== null
        ? paragraph(fill(words.limitReached, { date: formats.moment(client.freed.until) }), 'notice warning')
        : paragraph(words.help, 'muted'),
  ]
}

function deviceRow(context: Context, client: OwnEndUser, device: OwnDevice) {
  const { texts, formats } = context
  const words = texts.devices
  const name = device.name ?? words.unnamed
  const canFree =
    client.freed.limit > 0 && client.freed.until === null && device.freedUntil === null && !device.offline
  return h(
    'li',
    { class: 'row' },
    h(
      'div',
      {},
      h('h3', {}, name),
      paragraph(
        [device.system, fill(words.lastSeen, { date: formats.date(device.lastSeenAt) })]
          .filter(Boolean)
          .join(' · '),
        'muted small',
      ),
      device.offline &&
        paragraph(
          device.offlineUntil === null
            ? words.offline
            : fill(words.offlineUntil, { date: formats.date(device.offlineUntil) }),
          'small',
        ),
      device.freedUntil !== null &&
        paragraph(fill(words.freedUntil, { date: formats.moment(device.freedUntil) }), 'small'),
    ),
    canFree &&
      h(
        'button',
        {
          type: 'button',
          'aria-label': fill(words.freeNamed, { device: name }),
          on: { click: () => confirmFree(context, device._id, name) },
        },
        words.free,
      ),
  )
}

function confirmFree(context: Context, id: string, name: string) {
  const { page: general, devices: words } = context.texts
  let isBusy = false
  const free = async () => {
    if (isBusy) return
    isBusy = true
    try {
      await call('freeDevice', { params: { id }, token: context.token() })
      dialog.close()
      await context.reload()
      context.say(fill(words.freed, { device: name }))
    } catch (error) {
      dialog.close()
      if (context.hasEnded(error)) return
      await context.reload()
      context.say(problemOf(context, error), 'bad')
    }
  }
  const title = h('h2', { id: 'free-title' }, fill(words.confirm, { device: name }))
  const dialog = h(
    'dialog',
    { 'aria-labelledby': title.id, 'aria-describedby': 'free-help', on: { close: () => dialog.remove() } },
    h(
      'div',
      { class: 'dialog' },
      title,
      h('p', { id: 'free-help' }, words.confirmHelp),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', on: { click: () => dialog.close() } }, general.cancel),
        h('button', { type: 'button', class: 'primary', on: { click: () => void free() } }, words.confirmYes),
      ),
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
}

function problemOf(context: Context, error: unknown) {
  const { problems, devices: words } = context.texts
  const app = context.page.app.name
  const code = error instanceof CallError ? error.code : undefined
  if (code === 'device_self_service_off') return fill(words.off, { app })
  if (code === 'device_free_limit') return problems.freeLimit
  if (code === 'device_activated_offline') return fill(words.offlineHelp, { app })
  return code === 'not_found' ? problems.deviceGone : explain(context, error)
}
