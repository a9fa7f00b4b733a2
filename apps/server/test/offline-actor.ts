import { expect } from 'vitest'
import { makeLicenses, type Owner, single } from './actors.ts'
import type { TestServer } from './harness.ts'
import { makeRequest, readFile } from './offline-machine.ts'

/** An owner who activates machines of one app that are never online. */
export function offlineActor(on: TestServer, owner: Owner, app: { _id: string; appId: string }) {
  const activate = (request: string, more: object = {}) =>
    owner.call('POST', `/apps/${app._id}/offline-activations`, { request, ...more })
  const deactivate = (code: string, at: { _id: string } = app) =>
    owner.call('POST', `/apps/${at._id}/offline-deactivations`, { code })
  const list = async (query = '') =>
    (await owner.call('GET', `/apps/${app._id}/offline-activations${query}`)).json.data
  const oneKey = async (days = 30) => single(await makeLicenses(on, owner, app, 1, days))
  const devicesOf = async (id: string) => (await owner.call('GET', `/clients/${id}/devices`)).json.data
  const clientOf = async (id: string) => (await owner.call('GET', `/clients/${id}`)).json.data.client

  /** A machine that runs with a file. */
  async function activated(fields: { hwid?: string; days?: number } = {}) {
    const license = await oneKey()
    const request = makeRequest(app, { licenseKey: license.key, hwid: fields.hwid ?? 'pc-1' })
    const answer = await activate(request, fields.days === undefined ? {} : { days: fields.days })
    expect(answer.status).toBe(201)
    const { file, activation, client } = answer.json.data
    return { license, request, activation, client, ...(await readFile(on, app, file)) }
  }

  return { activate, deactivate, list, oneKey, devicesOf, clientOf, activated }
}
