import type { OwnEndUser } from '@keyward/contract'
import { type Context, card, paragraph } from './context.ts'
import { type Child, h } from './dom.ts'
import { fill } from './format.ts'
import type { Texts } from './texts/en.ts'

type Reason = keyof Texts['refusals']

const isReason = (texts: Texts, code: string): code is Reason => code in texts.refusals

/** Why a program refuses to start, and what to do about it; nothing for a code that is no refusal. */
export function explanation({ texts }: Pick<Context, 'texts'>, code: string): Child[] {
  if (!isReason(texts, code)) return []
  const { title, why, fix } = texts.refusals[code]
  return [h('h3', {}, title), paragraph(why), paragraph(fix)]
}

/** Why the program of an end user, or of a key, does not start now, or did not start last; with whose it is. */
export function refusalCard(
  context: Context,
  { refusedNow, refusal }: Pick<OwnEndUser, 'refusedNow' | 'refusal'>,
  name: string | null,
) {
  const { texts, formats, page } = context
  const words = texts.refusal
  const code = refusedNow ?? refusal?.code
  if (code === undefined) return null
  const said = refusal?.code === code ? refusal : undefined
  const solved = refusedNow === null && refusal?.solved === true
  return card(
    refusedNow === null ? words.last : words.now,
    name !== null && paragraph(name, 'muted'),
    solved && paragraph(words.solved, 'notice good'),
    !solved &&
      h('div', { class: `notice ${refusedNow === null ? '' : 'warning'}` }, ...explanation(context, code)),
    said &&
      paragraph(
        [
          fill(words.said, { message: said.message, date: formats.moment(said.at) }),
          fill(words.reference, { vendor: page.vendor, reference: said.reference }),
        ].join(' '),
        'muted small',
      ),
  )
}

/** Explains whatever a program says, without a sign-in. */
export function refusalHelp(context: Context) {
  const { texts } = context
  const words = texts.refusal
  const answer = h('div', { 'aria-live': 'polite' })
  const entries = Object.entries(texts.refusals).map(([code, { title }]) => ({ code, title }))
  entries.sort((one, other) => one.title.localeCompare(other.title, context.tag))
  const select = h(
    'select',
    { id: 'refusal', on: { change: () => answer.replaceChildren(...shown()) } },
    h('option', { value: '' }, words.choose),
    ...entries.map(({ code, title }) => h('option', { value: code }, title)),
  )
  const shown = () => explanation(context, select.value).map((child) => child as Node)
  return card(
    words.title,
    paragraph(words.help, 'muted'),
    h('div', { class: 'field' }, h('label', { for: 'refusal' }, words.question), select),
    answer,
  )
}
