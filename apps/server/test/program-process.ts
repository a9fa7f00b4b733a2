import { createHash, randomBytes } from 'node:crypto'
import { callOver } from './server-process.ts'

/** What a program knows of its app. */
export interface ProgramApp {
  _id: string
  appId: string
  appSecret: string
}

/** Lets a program sign in with a license over the network; returns the headers of its session. */
export async function signInProgram(
  url: string,
  { appId, appSecret }: ProgramApp,
  licenseKey: string,
  hwid: string,
): Promise<Record<string, string>> {
  const first = { appId, secret: appSecret, version: '1.0.0' }
  const opened = await callOver(url, 'POST', '/client/init', { body: first, headers: signed({}, first) })
  if (opened.status !== 200) throw new Error(`init answered ${opened.status}`)
  const session = { authorization: `Bearer ${opened.json.data.session}`, 'keyward-app': appId }
  const proof = { licenseKey, hwid }
  const headers = signed(session, proof)
  const { status } = await callOver(url, 'POST', '/client/license', { body: proof, headers })
  if (status !== 200) throw new Error(`the sign-in answered ${status}`)
  return session
}

/** The headers of a call of a program, with these. */
export function signed(headers: Record<string, string>, body?: object): Record<string, string> {
  const nonce = { 'keyward-nonce': randomBytes(18).toString('base64url') }
  if (body === undefined) return { ...headers, ...nonce }
  const digest = createHash('sha256').update(JSON.stringify(body)).digest('base64')
  return { ...headers, ...nonce, 'content-digest': `sha-256=:${digest}:` }
}
