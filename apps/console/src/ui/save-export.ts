import type { Endpoint } from '@keyward/contract'
import { callForFile, hasCode, messageOf } from '../lib/api/call.ts'
import type { Wire } from '../lib/api/wire.ts'
import { saveFile } from '../lib/browser/save-file.ts'
import { formatNumber } from '../lib/format/numbers.ts'
import { toast } from './toast.tsx'

interface Export {
  endpoint: Wire<Endpoint>
  params?: Record<string, string>
  query: Record<string, unknown>
  /** Plural: 'licenses'. */
  noun: string
  /** The number of rows, if known. */
  total: number | undefined
}

const number = (value: number) => formatNumber(value)

/**
 * Downloads an export and saves it. Counts lines for the progress, because the server writes one row per line. Shows a
 * toast with Cancel after one second.
 */
export async function saveExport({ endpoint, params, query, noun, total }: Export) {
  const stop = new AbortController()
  const toastId = `export-${noun}`
  let rows = 0
  let progressShownAt = 0
  const showProgress = () => {
    progressShownAt = Date.now()
    toast.loading(`Exporting ${noun}`, {
      id: toastId,
      description: total
        ? `${number(Math.min(rows, total))} of ${number(total)} rows`
        : `${number(rows)} rows`,
      action: { label: 'Cancel', onClick: () => stop.abort() },
    })
  }
  const timer = setTimeout(showProgress, 1000)
  try {
    const response = await callForFile(endpoint, { ...(params && { params }), query, signal: stop.signal })
    const parts: Uint8Array<ArrayBuffer>[] = []
    let last = 0
    for (const reader = response.body!.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      for (const byte of value) if (byte === 10) rows += 1
      last = value.at(-1) ?? last
      if (progressShownAt > 0 && Date.now() - progressShownAt > 250) showProgress()
    }
    if (last !== 10) throw new Error('the file ended within a line')
    const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
    saveFile(name ?? `${noun}.${query.format}`, parts, response.headers.get('content-type') ?? '')
    // Without the header line of a CSV, or the two brackets of a JSON.
    const count = Math.max(0, rows - (query.format === 'json' ? 2 : 1))
    toast.success('Export Ready', {
      id: toastId,
      description: `${number(count)} ${count === 1 ? noun.replace(/s$/, '') : noun} in ${name}`,
      action: undefined,
    })
  } catch (error) {
    if (stop.signal.aborted) {
      toast.info('Export Cancelled', { id: toastId, description: 'No file was saved.', action: undefined })
    } else if (hasCode(error, 'unauthorized')) {
      toast.dismiss(toastId)
    } else {
      toast.error('Export Failed', {
        id: toastId,
        description: messageOf(error, 'The file arrived incomplete. Please try again.'),
        action: undefined,
      })
    }
  } finally {
    clearTimeout(timer)
  }
}
