import { isPlaceholderId } from '@keyward/contract'
import { sha256 } from '../../core/crypto.ts'
import { type Network, NetworkSet, parseNetwork } from '../../core/networks/networks.ts'
import type { Database } from '../../db/index.ts'
import { type Parts, partMarksOf } from '../devices/devices.rules.ts'

interface BlockedBy {
  id: string
  reason: string | null
}

/** An app's block list and the networks that its VPN check lets through, ready for comparisons. */
export interface BlockTable {
  /** By its hardware id, or by three equal parts of four; `readParts` is called only if an entry has parts. */
  findDevice(hwidHash: string, readParts?: () => Parts | undefined): BlockedBy | undefined
  findEntry(id: string): BlockedBy | undefined
  findAddress(address: Network | undefined): BlockedBy | undefined
  allowsVpn(address: Network | undefined): boolean
}

interface KeptTable {
  version: number
  entries: number
  table: Promise<BlockTable>
}

/** How many entries the lists in memory may have together, where each app counts as one more entry. */
const entriesKept = 200_000

/**
 * Keeps block lists in memory by the version that every read of an app returns. A change increments the version in
 * its transaction, so all nodes use the new list from the next check on.
 */
export class BlockTables {
  readonly #database: Pick<Database, 'db' | 'lists'>
  readonly #most: number
  readonly #kept = new Map<string, KeptTable>()
  #entries = 0

  constructor(database: Pick<Database, 'db' | 'lists'>, most = entriesKept) {
    this.#database = database
    this.#most = most
  }

  /** Undefined for an app that never blocked anything. */
  async get(app: { id: string; blockVersion: number }): Promise<BlockTable | undefined> {
    if (app.blockVersion === 0) return undefined
    const kept = this.#kept.get(app.id)
    // Another call may have read a newer version already.
    if (kept && kept.version >= app.blockVersion) return kept.table
    return this.#load(app.id, app.blockVersion)
  }

  #load(appId: string, version: number): Promise<BlockTable> {
    const kept: KeptTable = {
      version,
      entries: 0,
      table: this.#read(appId, (count) => this.#resize(appId, kept, count)),
    }
    this.#drop(appId)
    this.#kept.set(appId, kept)
    // A failed read must not be kept: the next call tries again.
    kept.table.catch(() => {
      if (this.#kept.get(appId) === kept) this.#drop(appId)
    })
    return kept.table
  }

  #resize(appId: string, kept: KeptTable, count: number): void {
    // A newer version may have replaced it meanwhile.
    if (this.#kept.get(appId) !== kept) return
    kept.entries = count
    this.#entries += count
    for (const oldest of this.#kept.keys()) {
      if (this.#entries <= this.#most) return
      if (oldest !== appId) this.#drop(oldest)
    }
  }

  #drop(appId: string): void {
    this.#entries -= this.#kept.get(appId)?.entries ?? 0
    this.#kept.delete(appId)
  }

  async #read(appId: string, onSize: (count: number) => void): Promise<BlockTable> {
    const { lists, db } = this.#database
    const rows = await lists
      .selectFrom('blocklist')
      .select(['id', 'kind', 'value', 'value_key', 'marks', 'reason'])
      .where('app_id', '=', appId)
      .execute()
    const app = await db.selectFrom('apps').select('vpn_allowed').where('id', '=', appId).executeTakeFirst()
    const allowed = JSON.parse(app?.vpn_allowed ?? '[]') as string[]
    const devices = new Map<string, BlockedBy>()
    const byMark = new Map<string, BlockedBy>()
    const entries = new Map<string, BlockedBy>()
    const networks: [Network, BlockedBy][] = []
    for (const { id, kind, value, value_key, marks, reason } of rows) {
      const entry = { id, reason }
      entries.set(id, entry)
      if (kind !== 'hwid') networks.push(...withNetwork(value_key, entry))
      // Earlier versions took placeholders: such an entry would block unrelated machines.
      else if (!isPlaceholderId(value)) {
        devices.set(value_key, entry)
        for (const hash of otherHashesOf(value)) devices.set(hash, entry)
        for (const mark of JSON.parse(marks) as string[]) byMark.set(mark, entry)
      }
    }
    onSize(1 + rows.length + byMark.size + allowed.length)
    const blocked = new NetworkSet(networks)
    const vpn = new NetworkSet(allowed.flatMap((text) => withNetwork(text, true)))
    return {
      findDevice(hash, readParts) {
        const exact = devices.get(hash)
        const parts = exact || byMark.size === 0 ? undefined : readParts?.()
        const mark = parts && partMarksOf(parts).find((one) => byMark.has(one))
        return mark === undefined ? exact : byMark.get(mark)
      },
      findEntry: (id) => entries.get(id),
      findAddress: (address) => blocked.find(address),
      allowsVpn: (address) => vpn.find(address) === true,
    }
  }
}

/** The hashes of a hardware id with white space at its ends: programs are compared without it, old sessions with it. */
const otherHashesOf = (hwid: string): string[] =>
  hwid === hwid.trim() ? [] : [sha256(hwid), sha256(hwid.trim())]

function withNetwork<T>(text: string, value: T): [Network, T][] {
  const network = parseNetwork(text)
  return network ? [[network, value]] : []
}
