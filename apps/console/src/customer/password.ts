import type { CustomerSelf, OwnEndUser } from '@keyward/contract'
import { CallError, call } from './calls.ts'
import { type Context, card, explain, paragraph } from './context.ts'
import { FormProblem, field, form } from './form.ts'
import { fill } from './format.ts'

/** As in the contract, which is too large to load here. */
const passwordMin = 6

/** Sets the password of an end user; after a sign-in by password, with the current one. */
export function passwordCard(context: Context, me: CustomerSelf, client: OwnEndUser) {
  const { password: words, problems } = context.texts
  const name = client.username ?? ''
  const isChosen = me.mustChoosePassword === client._id
  const needsCurrent = me.kind === 'end_user' && !isChosen
  const several = me.clients.filter(({ hasPassword }) => hasPassword).length > 1
  const title = isChosen ? words.chooseTitle : several ? fill(words.of, { name }) : words.title
  const current = field('input', {
    label: words.current,
    name: 'currentPassword',
    type: 'password',
    autocomplete: 'current-password',
    required: problems.required,
  })
  const next = field('input', {
    label: words.next,
    name: 'newPassword',
    type: 'password',
    autocomplete: 'new-password',
    hint: words.hint,
    required: problems.required,
  })
  const made = form({
    fields: needsCurrent ? [current, next] : [next],
    submit: isChosen ? words.chooseSubmit : words.submit,
    explain: (error) => explain(context, error),
    send: async ({ currentPassword, newPassword = '' }) => {
      if (newPassword.length < passwordMin) throw new FormProblem(problems.shortPassword, 'newPassword')
      try {
        await call('setPassword', {
          token: context.token(),
          body: { client: client._id, newPassword, ...(needsCurrent && { currentPassword }) },
        })
      } catch (error) {
        if (context.hasEnded(error)) return
        throw toProblem(context, error)
      }
      await context.reload()
      context.say(words.changed)
    },
  })
  return card(title, paragraph(fill(isChosen ? words.chooseHelp : words.help, { name }), 'muted'), made)
}

function toProblem({ texts: { problems } }: Context, error: unknown) {
  if (!(error instanceof CallError)) return error
  if (error.paths.includes('currentPassword'))
    return new FormProblem(problems.wrongCurrent, 'currentPassword')
  if (error.code === 'pwLeaked' || error.paths.includes('newPassword'))
    return new FormProblem(problems.weakPassword, 'newPassword')
  return error
}
