/** @jsxImportSource preact */
import { useContext, useState } from 'preact/hooks'
import { saveFile } from '../lib/browser/save-file.ts'
import { Card, useCustomer } from './context.tsx'
import { Field, Form, ProblemsContext } from './form.tsx'
import { Explanation } from './refusal.tsx'

const requestMax = 4000

/** Takes the request of a machine that is never online, and makes the file for it. */
export function Offline() {
  const customer = useCustomer()
  const [{ file, reason }, setResult] = useState<{ file?: string; reason?: string }>({})
  const { offline: words, problems } = customer.texts
  return (
    <Card title={words.title}>
      <p class="muted">{words.help}</p>
      <Form
        submit={words.submit}
        send={async ({ request = '' }) => {
          setResult({})
          setResult(await customer.ask('activateOffline', { body: { request } }))
        }}
        explained={({ code, reason }) => {
          if (code === 'offline_refused') setResult({ reason })
          const request = {
            offline_refused: problems.offlineRefused,
            offline_floating: problems.offlineFloating,
            offline_request_used: problems.requestUsed,
            invalid_input: words.notRequest,
          }[code as string]
          return request !== undefined && { request }
        }}
      >
        <Field label={words.request} name="request" hint={words.requestHint} autocomplete="off" rows={4} />
        <Upload />
      </Form>
      <div aria-live="polite">
        {reason && (
          <div class="notice warning">
            <Explanation code={reason} />
          </div>
        )}
        {file && (
          <>
            <div class="notice good">{words.done}</div>
            <button
              type="button"
              onClick={() => saveFile(`activation-${customer.page.app.appId}.kwa`, [file], type)}
            >
              {words.download}
            </button>
          </>
        )}
      </div>
    </Card>
  )
}

const type = 'text/plain; charset=utf-8'

/** Takes the request out of a file. */
function Upload() {
  const words = useCustomer().texts.offline
  const [, show] = useContext(ProblemsContext)
  const read = async ({ files, form }: HTMLInputElement) => {
    const [file] = files ?? []
    if (!file) return
    if (file.size > requestMax) return show({ request: words.notRequest })
    const request = form?.elements.namedItem('request') as HTMLTextAreaElement
    request.value = (await file.text()).trim()
    show({})
  }
  return (
    <div class="field">
      <label for="offline-file">{words.upload}</label>
      <input
        type="file"
        id="offline-file"
        accept=".txt,.kwr,text/plain"
        onChange={({ currentTarget }) => read(currentTarget)}
      />
    </div>
  )
}
