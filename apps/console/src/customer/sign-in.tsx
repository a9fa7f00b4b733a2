/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { call } from './calls.ts'
import { useCustomer } from './context.tsx'
import { Field, Form } from './form.tsx'
import { fill } from './format.ts'

/** The form that signs in: by key, by name and password, or by a mailed link. */
export function SignIn({ first = 'key' }: { first: SignInMethod | undefined }) {
  const { texts, page } = useCustomer()
  const [method, setMethod] = useState(page.mail ? first : 'key')
  const words = texts.signIn
  const labels = { key: words.byKey, password: words.byPassword, ...(page.mail && { mail: words.byMail }) }
  const Chosen = forms[method]
  return (
    <section class="card" aria-label={words.title}>
      <fieldset>
        <legend>{words.how}</legend>
        <div
          class="choices"
          onChange={({ target }) => setMethod((target as HTMLInputElement).value as SignInMethod)}
        >
          {Object.entries(labels).map(([value, label]) => (
            <label key={value}>
              <input type="radio" name="method" value={value} checked={value === method} />
              {label}
            </label>
          ))}
        </div>
      </fieldset>
      <div>
        <Chosen />
      </div>
      {page.mail && <p class="muted small">{words.lost}</p>}
    </section>
  )
}

const forms = { key: ByKey, password: ByPassword, mail: ByMail }
export type SignInMethod = keyof typeof forms

function ByKey() {
  const customer = useCustomer()
  const { signIn: words, problems } = customer.texts
  return (
    <Form
      submit={words.submit}
      send={({ licenseKey = '' }) => customer.signIn({ licenseKey })}
      explained={({ code }) =>
        (code === 'keyNotFound' || code === 'invalid_input') && { licenseKey: problems.wrongKey }
      }
    >
      <Field label={words.key} name="licenseKey" hint={words.keyHint} autocomplete="off" maxlength={100} />
    </Form>
  )
}

function ByPassword() {
  const customer = useCustomer()
  const { signIn: words, problems } = customer.texts
  return (
    <Form
      submit={words.submit}
      send={({ username = '', password = '' }) => customer.signIn({ username, password })}
      explained={({ code }) =>
        (code === 'customer_login_failed' || code === 'invalid_input') && { '': problems.wrongPassword }
      }
    >
      <Field label={words.username} name="username" autocomplete="username" />
      <Field label={words.password} name="password" type="password" autocomplete="current-password" />
    </Form>
  )
}

function ByMail() {
  const customer = useCustomer()
  const { signIn: words, problems } = customer.texts
  const hint = `${words.emailHint} ${words.mailHint}`
  return (
    <Form
      submit={words.sendLink}
      send={async (values, form) => {
        const email = values.email?.trim() ?? ''
        const { page, tag } = customer
        await call('mail', { params: { appId: page.app.appId }, body: { email, locale: tag } })
        customer.say(fill(words.linkSent, { email }))
        form.reset()
      }}
      explained={({ code }) => code === 'invalid_input' && { email: problems.email }}
    >
      <Field label={words.email} name="email" type="email" hint={hint} autocomplete="email" />
    </Form>
  )
}
