/** @jsxImportSource preact */
import type { CustomerSelf } from '@keyward/contract'
import { useCustomer } from './context.tsx'
import { Devices, type OwnDevice } from './devices.tsx'
import { fill } from './format.ts'
import { Added, Licenses, Orders } from './licenses.tsx'
import { Offline } from './offline.tsx'
import { Password } from './password.tsx'
import { Refusal, RefusalHelp } from './refusal.tsx'

/** Everything that the session opens. */
export function Account({ me, devices }: { me: CustomerSelf; devices: readonly OwnDevice[] }) {
  const passwords = (isFirst: boolean) =>
    me.clients
      .filter(({ _id, hasPassword }) => hasPassword && (_id === me.mustChoosePassword) === isFirst)
      .map((client) => <Password key={client._id} me={me} client={client} />)
  return (
    <>
      <Identity me={me} />
      {passwords(true)}
      <Refusals me={me} />
      <Licenses me={me} />
      <Added me={me} />
      <Devices me={me} devices={devices} />
      {me.orders && <Orders orders={me.orders} />}
      {passwords(false)}
      <Offline />
      <RefusalHelp />
    </>
  )
}

/** Why the programs of end users and of keys that none uses yet do not start, with whose they are if there are several. */
function Refusals({ me: { clients, licenses } }: { me: CustomerSelf }) {
  const isOne = clients.length + licenses.length === 1 || (clients.length === 1 && licenses.length === 1)
  const keyOf = (_id: string) => licenses.find(({ client }) => client === _id)?.key ?? null
  return [
    ...clients.map((client) => ({ ...client, name: client.username ?? keyOf(client._id) })),
    ...licenses.map(({ _id, refusal, key }) => ({ _id, refusedNow: null, refusal, name: key })),
  ].map(({ _id, refusedNow, refusal, name }) => (
    <Refusal key={_id} refusedNow={refusedNow} refusal={refusal} name={isOne ? null : name} />
  ))
}

function Identity({ me: { email, clients, vendor } }: { me: CustomerSelf }) {
  const { texts, signOut } = useCustomer()
  const { licenses: words, session } = texts
  const name = clients.length === 1 && clients[0]?.username
  return (
    <div class="row">
      <p class="muted">
        {email ? fill(words.signedInWith, { email }) : name ? fill(words.signedInAs, { name }) : vendor}
      </p>
      <button type="button" onClick={signOut}>
        {session.signOut}
      </button>
    </div>
  )
}
