import { CallError, call } from './calls.ts'
import { type Context, explain, paragraph } from './context.ts'
import { h } from './dom.ts'
import { FormProblem, field, form } from './form.ts'
import { fill } from './format.ts'

export type SignInMethod = 'key' | 'password' | 'mail'

/** The form that signs in: by key, by name and password, or by a mailed link. */
export function signIn(context: Context, first: SignInMethod = 'key') {
  const { texts, page } = context
  const words = texts.signIn
  const forms = { key: byKey, password: byPassword, mail: byMail }
  const labels = { key: words.byKey, password: words.byPassword, mail: words.byMail }
  const methods = (['key', 'password', 'mail'] as const).filter((method) => method !== 'mail' || page.mail)
  const place = h('div')
  const choose = (method: SignInMethod) => place.replaceChildren(forms[method](context))
  const shown = methods.includes(first) ? first : 'key'
  choose(shown)
  return h(
    'section',
    { class: 'card', 'aria-label': words.title },
    h(
      'fieldset',
      {},
      h('legend', {}, words.how),
      h(
        'div',
        { class: 'choices' },
        ...methods.map((method) =>
          h(
            'label',
            {},
            h('input', {
              type: 'radio',
              name: 'method',
              value: method,
              checked: method === shown,
              on: { change: () => choose(method) },
            }),
            labels[method],
          ),
        ),
      ),
    ),
    place,
    page.mail && paragraph(words.lost, 'muted small'),
  )
}

async function open(context: Context, body: { licenseKey: string } | { username: string; password: string }) {
  const { token } = await call('login', {
    params: { appId: context.page.app.appId },
    body: { ...body, locale: context.tag },
  })
  await context.enter(token)
}

function byKey(context: Context) {
  const { signIn: words, problems } = context.texts
  return form({
    fields: [
      field('input', {
        label: words.key,
        name: 'licenseKey',
        hint: words.keyHint,
        autocomplete: 'off',
        maxlength: 100,
        required: problems.required,
      }),
    ],
    submit: words.submit,
    explain: (error) => explain(context, error),
    send: async ({ licenseKey = '' }) => {
      try {
        await open(context, { licenseKey })
      } catch (error) {
        const unknown =
          error instanceof CallError && ['keyNotFound', 'invalid_input'].includes(error.code ?? '')
        throw unknown ? new FormProblem(problems.wrongKey, 'licenseKey') : error
      }
    },
  })
}

function byPassword(context: Context) {
  const { signIn: words, problems } = context.texts
  return form({
    fields: [
      field('input', {
        label: words.username,
        name: 'username',
        autocomplete: 'username',
        required: problems.required,
      }),
      field('input', {
        label: words.password,
        name: 'password',
        type: 'password',
        autocomplete: 'current-password',
        required: problems.required,
      }),
    ],
    submit: words.submit,
    explain: (error) => explain(context, error),
    send: async ({ username = '', password = '' }) => {
      try {
        await open(context, { username, password })
      } catch (error) {
        const wrong =
          error instanceof CallError && ['customer_login_failed', 'invalid_input'].includes(error.code ?? '')
        throw wrong ? new FormProblem(problems.wrongPassword) : error
      }
    },
  })
}

function byMail(context: Context) {
  const { signIn: words, problems } = context.texts
  const made = form({
    fields: [
      field('input', {
        label: words.email,
        name: 'email',
        type: 'email',
        hint: `${words.emailHint} ${words.mailHint}`,
        autocomplete: 'email',
        required: problems.required,
      }),
    ],
    submit: words.sendLink,
    explain: (error) => explain(context, error),
    send: async ({ email = '' }) => {
      try {
        const { appId } = context.page.app
        await call('mail', { params: { appId }, body: { email: email.trim(), locale: context.tag } })
      } catch (error) {
        const wrong = error instanceof CallError && error.code === 'invalid_input'
        throw wrong ? new FormProblem(problems.email, 'email') : error
      }
      context.say(fill(words.linkSent, { email: email.trim() }))
      made.reset()
    },
  })
  return made
}
