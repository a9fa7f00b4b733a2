import { sees } from '../../core/actor.ts'
import { hour } from '../../core/clock.ts'
import type { Ctx } from '../../service/ctx.ts'
import type { Recipient } from './notifications.access.ts'
import * as facts from './notifications.facts.ts'
import { areKeysRunningOut, type News } from './notifications.rules.ts'
import * as text from './notifications.text.ts'

export const soonHours = 7 * 24
/** Distinguishes news about the mail of an order from news about the order. */
const mailMark = '.mail'

type Needed = Pick<Ctx, 'config' | 'clock' | 'db' | 'database'>

/** The part of what was found that a person may read at the moment when the mail is written. */
type NewsFor = (recipient: Recipient) => News[]

/** What a look finds at one vendor. Each fact is read once, however many people want it. */
export class VendorNews {
  readonly #ctx: Needed
  readonly #ownerId: string
  readonly #now: number
  readonly #read = new Map<string, Promise<unknown>>()

  constructor(ctx: Needed, ownerId: string, now: number) {
    this.#ctx = ctx
    this.#ownerId = ownerId
    this.#now = now
  }

  #once<Fact>(name: string, read: () => Promise<Fact>): Promise<Fact> {
    const known = this.#read.get(name) ?? read()
    this.#read.set(name, known)
    return known as Promise<Fact>
  }

  get #lists() {
    return this.#ctx.database.lists
  }

  #apps = () => this.#once('apps', () => facts.listApps(this.#lists, this.#ownerId))
  #keys = () => this.#once('keys', () => facts.countKeys(this.#lists, this.#ownerId, this.#now))
  #week = (weeksAgo: number) =>
    this.#once(`week ${weeksAgo}`, () => facts.countWeek(this.#lists, this.#ownerId, this.#now, weeksAgo))
  #ending = (after: number) =>
    this.#once(`ending ${after}`, () =>
      facts.countEnding(this.#lists, this.#ownerId, [after, this.#hourNow + soonHours]),
    )

  get #hourNow(): number {
    return Math.floor(this.#now / hour)
  }

  async #ofApps(textOf: (app: facts.AppOfVendor) => string | undefined): Promise<NewsFor> {
    const found = (await this.#apps()).flatMap((app) => {
      const textOfApp = textOf(app)
      return textOfApp === undefined ? [] : [{ subject: app.id, text: textOfApp }]
    })
    return ({ access }) => found.filter(({ subject }) => sees(access, subject))
  }

  async keysRunningOut(): Promise<NewsFor> {
    const [keys, week] = [await this.#keys(), await this.#week(0)]
    return this.#ofApps(({ id, name }) => {
      const counts = { unused: keys.get(id)?.unused ?? 0, redeemed: week.get(id)?.activations ?? 0 }
      return areKeysRunningOut(counts) ? text.keysText(name, counts) : undefined
    })
  }

  async refusalsRising(): Promise<NewsFor> {
    const rising = await this.#once('rising refusals', async () => {
      const refusing = await facts.listRefusing(this.#lists, this.#ownerId)
      const found = new Map<string, facts.RisingRefusals>()
      for (const app of (await this.#apps()).filter(({ id }) => refusing.has(id))) {
        const refusals = await facts.findRisingRefusals(this.#lists, app, this.#now)
        if (refusals) found.set(app.id, refusals)
      }
      return found
    })
    return this.#ofApps(({ id, name }) => {
      const refusals = rising.get(id)
      return refusals && text.refusalsText(name, refusals)
    })
  }

  async quotaRunningOut(): Promise<NewsFor> {
    const apps = await this.#apps()
    const names = new Map(apps.map(({ id, name }) => [id, name]))
    const resellers = await this.#once('resellers', () => facts.listFullResellers(this.#lists, this.#ownerId))
    const plan = await this.#once('plan', () => facts.findFullPlan(this.#ctx, this.#ownerId, apps))
    return ({ access, may }) => [
      ...(plan.apps && access.apps === null ? [{ subject: 'plan', text: text.planAppsText(plan.apps) }] : []),
      ...plan.licenses
        .filter(({ app }) => may('licenses:read') && sees(access, app.id))
        .map(({ app, limit }) => ({
          subject: app.id,
          text: text.planLicensesText(app.name, app.license_count, limit),
        })),
      ...resellers
        .filter((reseller) => may('resellers:read') && sees(access, reseller.app_id))
        .map((reseller) => ({
          subject: reseller.id,
          text: text.resellerText(names.get(reseller.app_id) ?? '', reseller),
        })),
    ]
  }

  /** Licenses that end within a week, except those that the mail at `toldAt` already listed. */
  async licensesExpiring(toldAt: number | undefined): Promise<NewsFor> {
    const told = toldAt === undefined ? 0 : Math.floor(toldAt / hour) + soonHours
    const ending = await this.#ending(Math.max(this.#hourNow, told))
    return this.#ofApps(({ id, name }) => {
      const n = ending.get(id)
      return n === undefined ? undefined : text.endingText(name, n)
    })
  }

  async ordersWaiting(): Promise<NewsFor> {
    const names = new Map((await this.#apps()).map(({ id, name }) => [id, name]))
    const nameOf = ({ app_id }: { app_id: string }) => names.get(app_id) ?? ''
    const waiting = await this.#once('orders', () => facts.listWaitingOrders(this.#lists, this.#ownerId))
    const unmailed = await this.#once('unmailed orders', () =>
      facts.listUnmailedOrders(this.#lists, this.#ownerId),
    )
    const found = [
      ...waiting.map((order) => ({ order, subject: order.id, text: text.orderText(nameOf(order), order) })),
      ...unmailed.map((order) => ({
        order,
        subject: `${order.id}${mailMark}`,
        text: text.unmailedText(nameOf(order), order),
      })),
    ]
    return ({ access }) =>
      found
        .filter(({ order }) => sees(access, order.app_id))
        .map(({ subject, text: line }) => ({ subject, text: line }))
  }

  async weeklySummary(): Promise<NewsFor> {
    const apps = await this.#apps()
    const [keys, week, before] = [await this.#keys(), await this.#week(0), await this.#week(1)]
    const ending = await this.#ending(this.#hourNow)
    const refusals = await this.#once('refusals', async () => {
      const refusing = await facts.listRefusing(this.#lists, this.#ownerId)
      return facts.countRefusals(
        this.#lists,
        apps.filter(({ id }) => refusing.has(id)),
        this.#now,
      )
    })
    const weeks = apps.map(({ id, name }) => ({
      id,
      name,
      licenses: week.get(id)?.licenses ?? 0,
      licensesBefore: before.get(id)?.licenses ?? 0,
      activations: week.get(id)?.activations ?? 0,
      activationsBefore: before.get(id)?.activations ?? 0,
      active: keys.get(id)?.active ?? 0,
      ending: ending.get(id) ?? 0,
      refusals: refusals.get(id),
    }))
    return ({ access, may }) =>
      weeks
        .filter(({ id }) => sees(access, id))
        .map((app) => ({
          ...app,
          refusals: may('clients:read') ? (app.refusals ?? { n: 0, isAll: true }) : undefined,
        }))
        .filter(({ licenses, activations, active, refusals: seen }) =>
          [licenses, activations, active, seen?.n ?? 0].some((n) => n > 0),
        )
        .sort((a, b) => b.activations - a.activations || b.active - a.active)
        .map((app) => ({ subject: app.id, text: text.weekText(app) }))
  }
}
