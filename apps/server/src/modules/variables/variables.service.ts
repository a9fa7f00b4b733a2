import { isDeepStrictEqual } from 'node:util'
import { type AppVariable, type ClientVariable, clientVariables } from '@keyward/contract'
import type { OwnerScope, ProgramActor, VendorActor } from '../../core/actor.ts'
import { newId } from '../../core/ids.ts'
import { problem, requireSession } from '../../core/problem.ts'
import type { Ctx } from '../../service/ctx.ts'
import { getApp, setVariablesRevisionOfApp } from '../apps/apps.access.ts'
import { isEndUserOf, lockEndUser } from '../end-users/end-users.access.ts'
import { setVariablesRevision } from '../entitlements/end-user-rows.ts'
import * as repo from './variables.repo.ts'
import { changeOf, withMakers } from './variables.rules.ts'

// Values can be secrets: they are encrypted at rest, and no record contains them.

/** A list with its revision; null without variables. */
interface Revised<Variable> {
  variables: Variable[]
  revision: string | null
}

export async function getAppVariables(
  ctx: Ctx,
  scope: OwnerScope,
  app: string,
): Promise<Revised<AppVariable>> {
  const { id } = await getApp(ctx.db, scope, app)
  const stored = await repo.findOfApp(ctx.db, id)
  return { variables: openApp(ctx, id, stored), revision: stored?.revision ?? null }
}

/** Replaces all variables of an app, unless the caller saw an earlier list; without `seen`, the last caller decides. */
export async function setAppVariables(
  ctx: Ctx,
  actor: VendorActor,
  app: string,
  { variables, seen }: { variables: AppVariable[]; seen?: string | null | undefined },
): Promise<Revised<AppVariable>> {
  const { id } = await getApp(ctx.db, actor, app)
  const stored = seal(ctx, contextOfApp(id), variables)
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    if (!(await setVariablesRevisionOfApp(tx, actor, id, stored?.revision ?? null)))
      throw problem('not_found')
    const found = await repo.findOfApp(tx, id)
    const before = openApp(ctx, id, found)
    if (hasChanged(found, seen, before, variables)) throw problem('variables_changed')
    write.spend(growthOf(found, stored))
    await repo.replaceOfApp(tx, id, stored)
    write.record('app.variables_changed', id, changeOf(before, variables), id)
    return { variables, revision: stored?.revision ?? null }
  })
}

export async function getClientVariables(
  ctx: Ctx,
  scope: OwnerScope,
  id: string,
): Promise<Revised<ClientVariable>> {
  if (!(await isEndUserOf(ctx.db, scope, id))) throw problem('not_found')
  const stored = await repo.findOfClient(ctx.db, id)
  return { variables: openClient(ctx, id, stored), revision: stored?.revision ?? null }
}

/** Replaces all variables of an end user, unless the caller saw an earlier list. */
export async function setClientVariables(
  ctx: Ctx,
  actor: VendorActor,
  id: string,
  { variables, seen }: { variables: ClientVariable[]; seen?: string | null | undefined },
): Promise<Revised<ClientVariable>> {
  const revision = variables.length === 0 ? null : newRevision()
  return ctx.tx(actor, async (write) => {
    const { tx } = write
    const appId = await setVariablesRevision(tx, actor, id, revision)
    if (appId === undefined) throw problem('not_found')
    const found = await repo.findOfClient(tx, id)
    const before = openClient(ctx, id, found)
    const after = withMakers(before, variables)
    if (hasChanged(found, seen, before, after)) throw problem('variables_changed')
    const stored = seal(ctx, contextOfClient(id), after, revision ?? undefined)
    write.spend(growthOf(found, stored))
    await repo.replaceOfClient(tx, id, stored)
    write.record('end_user.variables_changed', id, changeOf(before, after), appId)
    return { variables: after, revision }
  })
}

/** Sets a variable of the end user that is signed in to a program; only one that a program has made. */
export async function setVariableByProgram(
  ctx: Ctx,
  actor: ProgramActor,
  id: string,
  { name, value }: { name: string; value: string },
): Promise<void> {
  await ctx.tx(actor, async (write) => {
    const { tx } = write
    requireSession(await lockEndUser(tx, actor, id))
    const found = await repo.findOfClient(tx, id)
    const before = openClient(ctx, id, found)
    const was = before.find((variable) => variable.name === name)
    if (was && !was.program) throw problem('conflict', { message: 'Variable is read only' })
    if (was?.value === value) return
    const others = before.filter((variable) => variable.name !== name)
    const after = [...others, { name, value, program: true }]
    if (!clientVariables.safeParse(after).success) {
      throw problem('conflict', { message: 'Too many variables, or too long ones' })
    }
    const stored = seal(ctx, contextOfClient(id), after)
    await setVariablesRevision(tx, actor, id, stored?.revision ?? null)
    write.spend(growthOf(found, stored))
    await repo.replaceOfClient(tx, id, stored)
    write.record('end_user.variables_changed', id, changeOf(before, after), actor.appId)
  })
}

/** How many bytes an edit adds. Plans do not limit expired end users, so their variables would cost nothing if not counted. */
const growthOf = (before: repo.Stored | undefined, after: repo.Stored | undefined): number =>
  Math.max(0, (after?.sealed.length ?? 0) - (before?.sealed.length ?? 0))

/** Whether another caller has changed the list. A list that equals the edit counts as unchanged: repeated edits succeed. */
const hasChanged = <Variable>(
  stored: repo.Stored | undefined,
  seen: string | null | undefined,
  now: Variable[],
  wanted: Variable[],
): boolean => seen !== undefined && seen !== (stored?.revision ?? null) && !isDeepStrictEqual(now, wanted)

/** A list with its revision, for the programs of an app; undefined without variables. */
export interface Opened<Variable> {
  revision: string
  variables: Variable[]
}

export async function readAppVariables(ctx: Ctx, appId: string): Promise<Opened<AppVariable> | undefined> {
  const stored = await repo.findOfApp(ctx.db, appId)
  return stored && { revision: stored.revision, variables: openApp(ctx, appId, stored) }
}

export async function readClientVariables(
  ctx: Ctx,
  clientId: string,
): Promise<Opened<ClientVariable> | undefined> {
  const stored = await repo.findOfClient(ctx.db, clientId)
  return stored && { revision: stored.revision, variables: openClient(ctx, clientId, stored) }
}

export const contextOfApp = (id: string): string => `app_variables:${id}`
export const contextOfClient = (id: string): string => `client_variables:${id}`

const newRevision = (): string => newId('var')

const seal = (
  ctx: Ctx,
  context: string,
  variables: readonly ClientVariable[],
  revision = newRevision(),
): repo.Stored | undefined =>
  variables.length === 0 ? undefined : { revision, sealed: ctx.seal.seal(JSON.stringify(variables), context) }

const openApp = (ctx: Ctx, id: string, stored: repo.Stored | undefined): AppVariable[] =>
  stored === undefined ? [] : JSON.parse(ctx.seal.open(stored.sealed, contextOfApp(id)))

const openClient = (ctx: Ctx, id: string, stored: repo.Stored | undefined): ClientVariable[] =>
  stored === undefined ? [] : JSON.parse(ctx.seal.open(stored.sealed, contextOfClient(id)))
