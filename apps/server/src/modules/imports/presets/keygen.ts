import { own, readJsonLists } from '@keyward/contract/imported-files'
import type { ImportedLicense } from '../rows.ts'
import type { Collector } from './collector.ts'
import { numberOf, readMoment, textOf } from './values.ts'

interface Resource {
  file: string
  line: number
  value: unknown
  problem: string | undefined
}

/** The resources of JSON:API pages by their kinds. */
export interface KeygenPages {
  licenses: Resource[]
  machines: Map<string, string[]>
  people: Map<string, string>
  policies: Map<string, string>
}

export const noPages = (): KeygenPages => ({
  licenses: [],
  machines: new Map(),
  people: new Map(),
  policies: new Map(),
})

const devicesPerLicense = 1000

/** Adds the pages of a file; false if it has none. */
export function addKeygenFile(pages: KeygenPages, file: string, text: string, rowsMax: number): boolean {
  let found = false
  for (const { list, place, value, problem } of readJsonLists(text)) {
    if (list !== 'data' && list !== 'included') continue
    const [type, id, attributes] = [own(value, 'type'), textOf(own(value, 'id')), own(value, 'attributes')]
    if (problem !== undefined) pages.licenses.push({ file, line: place, value, problem })
    else if (type === 'licenses' && list === 'data')
      pages.licenses.push({ file, line: place, value, problem: undefined })
    else if (type === 'machines') {
      const license = relatedTo(value, 'license')
      const fingerprint = textOf(own(attributes, 'fingerprint'))
      if (license !== undefined && fingerprint !== undefined) addDevice(pages, license, fingerprint)
    } else if (type === 'users' && id !== undefined)
      pages.people.set(id, textOf(own(attributes, 'email')) ?? '')
    else if (type === 'policies' && id !== undefined)
      pages.policies.set(id, textOf(own(attributes, 'name')) ?? '')
    else if (own(value, 'attributes') === undefined) continue
    found = true
    if (pages.licenses.length > rowsMax) return found
  }
  return found
}

function addDevice({ machines }: KeygenPages, license: string, fingerprint: string): void {
  const mine = machines.get(license)
  if (!mine) machines.set(license, [fingerprint])
  else if (mine.length < devicesPerLicense) mine.push(fingerprint)
}

/** The id of a related resource. */
const relatedTo = (value: unknown, name: string): string | undefined =>
  textOf(own(own(own(own(value, 'relationships'), name), 'data'), 'id'))

export function joinKeygen(pages: KeygenPages, to: Collector): void {
  const added = new Set<string>()
  for (const resource of pages.licenses) {
    const { file, line, value, problem } = resource
    const attributes = own(value, 'attributes')
    const key = textOf(own(attributes, 'key')) ?? ''
    if (problem !== undefined || key === '') {
      to.addLicense({
        kind: 'license',
        file,
        line,
        key,
        status: 'unused',
        ...(problem === undefined ? {} : { problem }),
      })
      continue
    }
    const row = toLicense(resource, key, attributes, pages)
    const owner = relatedTo(value, 'owner') ?? relatedTo(value, 'user')
    const email = owner === undefined ? '' : (pages.people.get(owner) ?? '')
    if (email !== '' && to.ask('people') === 'users') {
      if (!added.has(email))
        to.addUser({ kind: 'user', file, line, username: email, email, end: row.end ?? 'never' })
      added.add(email)
      row.usedBy = email
      if (row.status === 'unused') row.status = 'used'
    } else if (email !== '') row.note = row.note === undefined ? email : `${email}, ${row.note}`
    to.addLicense(row)
  }
}

function toLicense(
  { file, line, value }: Resource,
  key: string,
  attributes: unknown,
  { machines, policies }: KeygenPages,
): ImportedLicense {
  const row: ImportedLicense = { kind: 'license', file, line, key, status: 'unused' }
  const id = textOf(own(value, 'id'))
  const note = textOf(own(attributes, 'name'))
  const policy = policies.get(relatedTo(value, 'policy') ?? '')
  const devices = machines.get(id ?? '')
  if (note !== undefined) row.note = note
  if (policy) row.type = policy.slice(0, 100)
  if (devices) row.devices = [...new Set(devices)]
  if (id !== undefined) row.reference = id.slice(0, 100)
  const status = textOf(own(attributes, 'status'))?.toUpperCase()
  if (status === 'BANNED' || status === 'SUSPENDED' || own(attributes, 'suspended') === true) {
    row.status = 'banned'
    row.banReason = status === 'BANNED' ? '' : 'Suspended'
  }
  const most = own(attributes, 'maxMachines')
  const count = numberOf(most)
  if (most === null) row.devicesMax = -1
  else if (count !== undefined && Number.isInteger(count) && count > 0) row.devicesMax = count
  if (textOf(own(attributes, 'scheme')) !== undefined)
    row.hint = 'Programs cannot check the signature of its key any longer.'
  const expiry = own(attributes, 'expiry')
  if (expiry === null) return { ...row, end: 'never' }
  const moment = readMoment(expiry)
  if ('ms' in moment) return { ...row, end: { at: moment.ms } }
  return { ...row, problem: 'Its expiry is no ISO 8601 date' }
}
