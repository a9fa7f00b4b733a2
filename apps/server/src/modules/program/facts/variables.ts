import { type AppVariable, type ClientVariable, limits } from '@keyward/contract'
import { variableBytes } from '@keyward/contract/variables'
import type { Soon } from '../../../core/queues/after.ts'
import type { Ctx } from '../../../service/ctx.ts'
import { type Opened, readAppVariables, readClientVariables } from '../../variables/variables.service.ts'

/** Opened lists that stay in memory: most apps send the same ones with every check. */
const keptMax = 500

type Texts = Record<string, string>
const none: Texts = {}

/** What the programs of an app receive; reads a list again when its revision changes. */
export class ProgramVariables {
  readonly #ctx: Ctx
  readonly #apps = new Map<string, Opened<AppVariable>>()

  constructor(ctx: Ctx) {
    this.#ctx = ctx
  }

  /** The public variables, which `init` sends before anyone signs in. */
  async public(app: { id: string; variablesRevision: string | null }): Promise<Texts> {
    const found = await this.#ofApp(app)
    return found.length === 0 ? none : toTexts(found.filter((variable) => variable.public))
  }

  /** The app's variables that are not public, overridden by the end user's own; never what a program wrote. */
  ofUser(
    app: { id: string; variablesRevision: string | null },
    user: { id: string; variablesRevision?: string | null },
  ): Soon<Texts> {
    if (app.variablesRevision === null && user.variablesRevision === null) return none
    return Promise.all([this.#ofApp(app), this.#ownOf(user)]).then(([found, own]) =>
      toTexts([...found.filter((variable) => !variable.public), ...own]),
    )
  }

  /** The variables in a lease: the app's for offline use, public ones too, with the end user's own values. */
  async offline(
    app: { id: string; variablesRevision: string | null },
    user: { id: string; variablesRevision: string | null },
  ): Promise<Texts> {
    const found = (await this.#ofApp(app)).filter((variable) => variable.offline)
    if (found.length === 0) return none
    const own = await this.#ownOf(user)
    const ownTexts = new Map(own.map(({ name, value }) => [name, value]))
    const texts: Texts = {}
    let bytes = 0
    for (const { name, value: common } of found) {
      const value = ownTexts.get(name) ?? common
      bytes += variableBytes({ name, value })
      // The end user's own values can be longer than the app's, and a lease stays short.
      if (bytes > limits.offlineVariablesBytesMax) break
      texts[name] = value
    }
    return texts
  }

  /** What the vendor has set for an end user: programs believe it, so nothing that a program wrote is among it. */
  async #ownOf({ id, variablesRevision }: { id: string; variablesRevision?: string | null }) {
    const own = variablesRevision === null ? undefined : await readClientVariables(this.#ctx, id)
    return own?.variables.filter(({ program }) => !program) ?? []
  }

  async #ofApp({ id, variablesRevision }: { id: string; variablesRevision: string | null }) {
    if (variablesRevision === null) return []
    const kept = this.#apps.get(id)
    if (kept?.revision === variablesRevision) return kept.variables
    const opened = await readAppVariables(this.#ctx, id)
    this.#apps.delete(id)
    if (opened) {
      const [oldest] = this.#apps.keys()
      if (this.#apps.size >= keptMax && oldest !== undefined) this.#apps.delete(oldest)
      this.#apps.set(id, opened)
    }
    return opened?.variables ?? []
  }
}

const toTexts = (variables: readonly ClientVariable[]): Texts =>
  Object.fromEntries(variables.map(({ name, value }) => [name, value]))
