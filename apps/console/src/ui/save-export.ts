import type { Endpoint } from '@keyward/contract'
import { callForFile, messageOf } from '../lib/api/call.ts'
import type { Wire } from '../lib/api/wire.ts'
import { saveFile } from '../lib/browser/save-file.ts'
import { toast } from './toast.tsx'

interface Export {
  endpoint: Wire<Endpoint>
  query: Record<string, unknown>
  /** What is exported, in the plural: 'licenses'. */
  noun: string
  /** How many rows there will be, where that is known. */
  total: number | undefined
}

const number = (value: number) => value.toLocaleString('en-US')

/**
 * Reads an export and saves it. The file is written while it is sent, a row a line, so that the lines that have come
 * tell how far it is; what takes more than a second says so, and can be given up.
 */
export async function saveExport({ endpoint, query, noun, total }: Export) {
  const stop = new AbortController()
  const shown = `export-${noun}`
  let rows = 0
  let told = 0
  const tell = () => {
    told = Date.now()
    toast.loading(`Exporting ${noun}`, {
      id: shown,
      description: total
        ? `${number(Math.min(rows, total))} of ${number(total)} rows`
        : `${number(rows)} rows`,
      action: { label: 'Cancel', onClick: () => stop.abort() },
    })
  }
  const timer = setTimeout(tell, 1000)
  try {
    const response = await callForFile(endpoint, { query, signal: stop.signal })
    const parts: Uint8Array<ArrayBuffer>[] = []
    let last = 0
    for (const reader = response.body!.getReader(); ; ) {
      const { done, value } = await reader.read()
      if (done) break
      parts.push(value)
      for (const byte of value) if (byte === 10) rows += 1
      last = value.at(-1) ?? last
      if (told > 0 && Date.now() - told > 250) tell()
    }
    if (last !== 10) throw new Error('the file ended within a line')
    const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
    saveFile(name ?? `${noun}.${query.format}`, parts, response.headers.get('content-type') ?? '')
    // The line of names of a CSV, the two brackets of a JSON.
    const count = Math.max(0, rows - (query.format === 'csv' ? 1 : 2))
    toast.success('Export Ready', {
      id: shown,
      description: `${number(count)} ${noun} in ${name}`,
      action: undefined,
    })
  } catch (error) {
    if (stop.signal.aborted) {
      toast.info('Export Cancelled', { id: shown, description: 'No file was saved.', action: undefined })
    } else {
      toast.error('Export Failed', {
        id: shown,
        description: messageOf(error, 'The file arrived incomplete. Please try again.'),
        action: undefined,
      })
    }
  } finally {
    clearTimeout(timer)
  }
}
