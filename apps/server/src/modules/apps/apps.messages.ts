import { canonicalLocale, lookupTags, type MessageKey, messageDefaults } from '@keyward/contract'
import type { OwnerScope, VendorActor } from '../../core/actor.ts'
import { problem } from '../../core/problem.ts'
import { hasChanged } from '../../core/seen.ts'
import type { Db } from '../../db/index.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp } from './apps.access.ts'
import * as repo from './apps.messages.repo.ts'
import { lockApp, updateApp } from './apps.repo.ts'
import type { AppRow } from './apps.service.ts'

type Texts = Partial<Record<MessageKey, string>>
/** A text that is null is removed, so that the more general one applies. */
type Changes = { [Key in MessageKey]?: string | null | undefined }
type SeenChanges = Changes & { seen?: Changes | undefined }

/** The texts of a language, or the default ones without a tag. */
export async function getErrorMessages(
  ctx: Ctx,
  scope: OwnerScope,
  idOrAppId: string,
  tag: string | undefined,
) {
  const app = await getApp(ctx.db, scope, idOrAppId)
  return shown(ctx.db, app, tag && canonicalLocale(tag))
}

/** Changes texts of a language, or the default ones; without changes all of them are removed. */
export async function updateErrorMessages(
  ctx: Ctx,
  actor: VendorActor,
  idOrAppId: string,
  tag: string | undefined,
  update: SeenChanges | undefined,
) {
  const { seen, ...changes } = update ?? {}
  const locale = tag && canonicalLocale(tag)
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const { id } = await getApp(tx, actor, idOrAppId)
    const app = await lockApp(tx, actor, id)
    const before = locale ? await repo.findTexts(tx, id, locale) : app.messages
    const now = JSON.parse(before ?? '{}') as Texts
    if (seen && hasChanged({ ...noTexts, ...now }, seen, changes)) throw problem('messages_changed')
    const texts = update ? change(now, changes) : {}
    if (!locale) await updateApp(tx, actor, id, { messages: JSON.stringify(texts) })
    else if (Object.keys(texts).length === 0) await repo.deleteTexts(tx, id, locale)
    else if (!(await repo.saveTexts(tx, { id, locale, texts: JSON.stringify(texts) }))) {
      throw problem('locales_full')
    }
    const detail = { ...(locale && { locale }), before: now as Record<string, string> }
    const after = texts as Record<string, string>
    if (update) write.record('app.messages_changed', id, { ...detail, after }, id)
    else write.record('app.messages_reset', id, detail, id)
    return shown(tx, { ...app, messages: locale ? app.messages : JSON.stringify(texts) }, locale)
  })
}

const noTexts = Object.fromEntries(Object.keys(messageDefaults).map((key) => [key, null]))

function change(texts: Texts, changes: Changes): Texts {
  const changed = Object.entries({ ...texts, ...changes }).filter(([, text]) => typeof text === 'string')
  return Object.fromEntries(changed)
}

async function shown(db: Db, app: AppRow, locale: string | undefined) {
  const defaults = JSON.parse(app.messages) as Texts
  const tags = locale ? lookupTags(locale) : []
  const found = tags.length > 0 ? await repo.listTexts(db, app.id, tags) : new Map<string, string>()
  const general = tags.toReversed().map((tag) => JSON.parse(found.get(tag) ?? '{}') as Texts)
  const own = locale ? general.at(-1) : defaults
  return {
    errorMessages: Object.assign({}, messageDefaults, defaults, ...general) as Record<MessageKey, string>,
    changed: Object.keys(own ?? {}) as MessageKey[],
    locales: await repo.listLocales(db, app.id),
  }
}

/**
 * The text that a program gets for a message: the most specific one in `texts`, each as JSON, else the built-in one. The
 * reason of a ban or block replaces `{reason}`; without a reason, texts that name one are left out.
 */
export function messageOf(texts: readonly string[], key: MessageKey, reason: string | null = null): string {
  const own = texts
    .map((json) => (JSON.parse(json) as Texts)[key])
    .find((text) => text !== undefined && (reason || !text.includes('{reason}')))
  return (own ?? messageDefaults[key]).replaceAll('{reason}', () => reason ?? '').trim()
}
