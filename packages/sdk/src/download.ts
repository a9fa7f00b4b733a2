import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSafeAddress } from './arguments.ts'
import { KeywardError, KeywardNetworkError, KeywardSignatureError, KeywardUsageError } from './errors.ts'
import { toNetworkError } from './http.ts'
import type { Download } from './platform.ts'
import type { FetchResponse } from './types.ts'
import { sdk } from './version.ts'

const redirects = new Set([301, 302, 303, 307, 308])
const maxRedirects = 5

/**
 * Downloads a file into a folder and returns its path. What an earlier call left is gone on with. The file has its name
 * only once its digest is right; what has a wrong one is deleted.
 */
export async function download(wanted: Download): Promise<string> {
  try {
    return await completed(wanted)
  } catch (cause) {
    // Files alone fail so: errors of the network are of the SDK, and those of `onProgress` of the program.
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause
    throw new KeywardUsageError('storage_failed', `The file cannot be stored in ${wanted.folder}`, { cause })
  }
}

async function completed(wanted: Download): Promise<string> {
  const { artifact, folder } = wanted
  const target = join(folder, artifact.name)
  const part = `${target}.${artifact.sha512.slice(0, 16)}.part`
  await mkdir(folder, { recursive: true })
  if ((await digestOf(target)) === artifact.sha512) return target
  for (;;) {
    const from = await sizeOf(part)
    const status = from < artifact.size ? await receive(wanted, part, from) : 200
    // What gets the name is a copy of its own: another program may still write to the part.
    const copy = `${part}.${process.pid}`
    const isRight = (await digestOf(part, copy)) === artifact.sha512
    if (isRight) await rename(copy, target)
    await Promise.all([part, copy].map((path) => rm(path, { force: true })))
    if (isRight) return target
    if (from === 0) {
      throw new KeywardSignatureError('digest_mismatch', 'The download is not the released file', status)
    }
  }
}

/** Writes what the server has after the first bytes; begins anew where it does not go on from there. */
async function receive(wanted: Download, part: string, from: number): Promise<number> {
  const { artifact, timeoutMs, onProgress } = wanted
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    clearTimeout(timer)
    timer = setTimeout(() => abort.abort(), timeoutMs)
  }
  const toLost = (error: unknown): never => {
    if (error instanceof KeywardError) throw error
    if (!abort.signal.aborted) throw toNetworkError(error, artifact.url)
    const message = `No answer from ${artifact.url} in time`
    throw new KeywardNetworkError('timed_out', message, { outcomeUnknown: false })
  }
  try {
    wait()
    const response = await request(wanted, from, abort.signal).catch(toLost)
    const { status } = response
    const continues = status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${from}-`)
    if (from > 0 && (status === 416 || (status === 206 && !continues))) {
      await rm(part, { force: true })
      return status
    }
    if (status !== 200 && !continues) throw refused(status, artifact.url)
    const file = await open(part, continues ? 'r+' : 'w')
    try {
      let at = continues ? from : 0
      const reader = response.body?.getReader()
      while (reader && at < artifact.size) {
        const { done, value } = await reader.read().catch(toLost)
        if (done || value === undefined) break
        wait()
        await file.write(value, 0, Math.min(value.byteLength, artifact.size - at), at)
        at = Math.min(at + value.byteLength, artifact.size)
        onProgress?.(at, artifact.size)
      }
    } finally {
      await file.close()
    }
    return status
  } finally {
    clearTimeout(timer)
    abort.abort()
  }
}

async function request(
  { artifact, fetch }: Download,
  from: number,
  signal: AbortSignal,
): Promise<FetchResponse> {
  const headers = {
    'user-agent': sdk,
    'accept-encoding': 'identity',
    ...(from > 0 && { range: `bytes=${from}-` }),
  }
  let url = artifact.url
  for (let hops = 0; ; hops++) {
    const response = await fetch(url, { method: 'GET', headers, redirect: 'manual', signal })
    const location = redirects.has(response.status) ? response.headers.get('location') : null
    if (location === null) return response
    url = new URL(location, url).href
    if (hops === maxRedirects || !isSafeAddress(url)) throw refused(response.status, artifact.url)
  }
}

function refused(status: number, url: string): KeywardNetworkError {
  const code = status === 429 ? 'rate_limited' : status >= 500 ? 'server_error' : 'wrong_address'
  return new KeywardNetworkError(code, `${url} answered ${status}`, { status, outcomeUnknown: false })
}

/** SHA-512 of a file in hex, which is copied at the same time; undefined without it. */
async function digestOf(path: string, copy?: string): Promise<string | undefined> {
  if ((await sizeOf(path)) === 0) return undefined
  const hash = createHash('sha512')
  const file = copy === undefined ? undefined : await open(copy, 'w')
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk)
      await file?.writeFile(chunk)
    }
  } finally {
    await file?.close()
  }
  return hash.digest('hex')
}

/** 0 without the file. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    (error) => {
      if (error.code === 'ENOENT') return 0
      throw error
    },
  )
