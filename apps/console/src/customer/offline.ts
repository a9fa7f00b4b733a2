import { saveFile } from '../lib/browser/save-file.ts'
import { CallError, call } from './calls.ts'
import { type Context, card, explain, paragraph } from './context.ts'
import { h } from './dom.ts'
import { FormProblem, field, form } from './form.ts'
import { explanation } from './refusal.ts'

const requestMax = 4000

/** Takes the request of a machine that is never online, and makes the file for it. */
export function offlineCard(context: Context) {
  const { texts, page } = context
  const { offline: words, problems } = texts
  const request = field('textarea', {
    label: words.request,
    name: 'request',
    hint: words.requestHint,
    autocomplete: 'off',
    rows: 4,
    required: problems.required,
  })
  const upload = h('input', {
    type: 'file',
    id: 'offline-file',
    accept: '.txt,.kwr,text/plain',
    on: { change: () => void read() },
  })
  const read = async () => {
    const [file] = upload.files ?? []
    if (!file) return
    if (file.size > requestMax) return request.setError(words.notRequest)
    request.control.value = (await file.text()).trim()
    request.setError('')
  }
  const result = h('div', { 'aria-live': 'polite' })
  return card(
    words.title,
    paragraph(words.help, 'muted'),
    form({
      fields: [request],
      extra: [h('div', { class: 'field' }, h('label', { for: upload.id }, words.upload), upload)],
      submit: words.submit,
      explain: (error) => explain(context, error),
      send: async ({ request: text = '' }) => {
        result.replaceChildren()
        try {
          const { file } = await call('activateOffline', { token: context.token(), body: { request: text } })
          const save = () => saveFile(`activation-${page.app.appId}.kwa`, [file], 'text/plain; charset=utf-8')
          result.replaceChildren(
            h('div', { class: 'notice good' }, words.done),
            h('button', { type: 'button', on: { click: save } }, words.download),
          )
        } catch (error) {
          if (context.hasEnded(error)) return
          throw toProblem(error)
        }
      },
    }),
    result,
  )

  function toProblem(error: unknown) {
    if (!(error instanceof CallError)) return error
    if (error.code === 'offline_refused') {
      const why = explanation(context, error.reason ?? '')
      if (why.length > 0) result.replaceChildren(h('div', { class: 'notice warning' }, ...why))
      return new FormProblem(problems.offlineRefused, 'request')
    }
    if (error.code === 'offline_floating') return new FormProblem(problems.offlineFloating, 'request')
    if (error.code === 'offline_request_used') return new FormProblem(problems.requestUsed, 'request')
    return error.code === 'invalid_input' ? new FormProblem(words.notRequest, 'request') : error
  }
}
