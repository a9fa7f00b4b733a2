/** @jsxImportSource preact */
import type { CustomerSelf, OwnEndUser } from '@keyward/contract'
import { Card, useCustomer } from './context.tsx'
import { Field, Form } from './form.tsx'
import { fill } from './format.ts'

/** As in the contract, which is too large to load here. */
const passwordMin = 6

/** Sets the password of an end user; after a sign-in by password, with the current one. */
export function Password({ me, client }: { me: CustomerSelf; client: OwnEndUser }) {
  const customer = useCustomer()
  const { password: words, problems } = customer.texts
  const name = client.username ?? ''
  const isChosen = me.mustChoosePassword === client._id
  const several = me.clients.filter(({ hasPassword }) => hasPassword).length > 1
  return (
    <Card title={isChosen ? words.chooseTitle : several ? fill(words.of, { name }) : words.title}>
      <p class="muted">{fill(isChosen ? words.chooseHelp : words.help, { name })}</p>
      <Form
        submit={isChosen ? words.chooseSubmit : words.submit}
        send={async ({ currentPassword, newPassword = '' }, form) => {
          await customer.ask('setPassword', { body: { client: client._id, currentPassword, newPassword } })
          form.reset()
          await customer.reload()
          customer.say(words.changed)
        }}
        explained={({ code, paths }, { newPassword = '' }) => {
          if (newPassword.length < passwordMin) return { newPassword: problems.shortPassword }
          if (paths.includes('currentPassword')) return { currentPassword: problems.wrongCurrent }
          const isWeak = code === 'pwLeaked' || paths.includes('newPassword')
          return isWeak && { newPassword: problems.weakPassword }
        }}
      >
        {me.kind === 'end_user' && !isChosen && (
          <Field
            label={words.current}
            name="currentPassword"
            type="password"
            autocomplete="current-password"
          />
        )}
        <Field
          label={words.next}
          name="newPassword"
          type="password"
          autocomplete="new-password"
          hint={words.hint}
        />
      </Form>
    </Card>
  )
}
