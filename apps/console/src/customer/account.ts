import type { CustomerSelf, OwnEndUser, OwnLicense } from '@keyward/contract'
import { call } from './calls.ts'
import type { Context } from './context.ts'
import { devicesCards, type OwnDevice } from './devices.ts'
import { h } from './dom.ts'
import { fill } from './format.ts'
import { addedCard, licensesCard, ordersCard } from './licenses.ts'
import { offlineCard } from './offline.ts'
import { passwordCard } from './password.ts'
import { refusalCard, refusalHelp } from './refusal.ts'

/** Everything that the session opens. */
export function account(context: Context, me: CustomerSelf, devices: readonly OwnDevice[]) {
  const { clients, orders, mustChoosePassword } = me
  const withPassword = clients.filter(({ hasPassword }) => hasPassword)
  const chosenFirst = (first: boolean) =>
    withPassword
      .filter(({ _id }) => (_id === mustChoosePassword) === first)
      .map((client) => passwordCard(context, me, client))
  return [
    identity(context, me),
    ...chosenFirst(true),
    ...refusals(context, me),
    licensesCard(context, me),
    addedCard(context, clients),
    ...devicesCards(context, me, devices),
    orders && ordersCard(context, orders),
    ...chosenFirst(false),
    offlineCard(context),
    refusalHelp(context),
  ]
}

/** Why the programs of end users and of keys that none uses yet do not start, with whose they are if there are several. */
function refusals(context: Context, { clients, licenses }: CustomerSelf) {
  const isOne = clients.length + licenses.length === 1 || (clients.length === 1 && licenses.length === 1)
  const whose = (client: OwnEndUser) => licenses.find((license) => license.client === client._id)?.key ?? null
  return [
    ...clients.map((client) =>
      refusalCard(context, client, isOne ? null : (client.username ?? whose(client))),
    ),
    ...licenses.map((license: OwnLicense) =>
      refusalCard(context, { refusedNow: null, refusal: license.refusal }, isOne ? null : license.key),
    ),
  ]
}

function identity(context: Context, { email, clients }: CustomerSelf) {
  const { licenses: words, session } = context.texts
  const name = clients.length === 1 ? clients[0]?.username : undefined
  const who = email
    ? fill(words.signedInWith, { email })
    : name
      ? fill(words.signedInAs, { name })
      : context.page.vendor
  const leave = async () => {
    const token = context.token()
    // Signed out here in any case; without a connection the token ends by itself within a day.
    await call('logout', { token, body: {} }).catch(() => undefined)
    await context.enter(null)
    context.say(context.texts.page.signedOut)
  }
  return h(
    'div',
    { class: 'row' },
    h('p', { class: 'muted' }, who),
    h('button', { type: 'button', on: { click: () => void leave() } }, session.signOut),
  )
}
