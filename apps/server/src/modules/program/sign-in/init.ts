import { canonicalLocale } from '@keyward/contract'
import { toIso } from '../../../core/clock.ts'
import { sameDigest, sha256 } from '../../../core/crypto.ts'
import { listAllowedHashes } from '../../blocklist/blocklist.service.ts'
import { adviseOn, hasUpdate } from '../../releases/catalog.rules.ts'
import type { AppFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { type RefusalContext, refused, withContext } from '../verdict/refusal.ts'
import { factsOf, verdict } from '../verdict/verdict.ts'

interface Init {
  secret: string
  version: string
  hash?: string | undefined
  locale?: string | undefined
  sdk?: string | undefined
}

/** Opens a session for a program that knows the app's secret. */
export async function init(deps: ProgramDeps, app: AppFacts, sent: Init) {
  await refuseBuild(deps, app, { ...sent, hasSecret: sameDigest(app.secretHash, sha256(sent.secret)) })
  deps.sdks.note(app.id, sent.sdk)
  const locale = sent.locale === undefined ? undefined : canonicalLocale(sent.locale)
  const { token, expiresAt } = deps.sessions.open(app, {
    version: sent.version,
    ...(locale === undefined ? {} : { locale }),
  })
  const now = deps.ctx.clock.now()
  return {
    session: token,
    expiresAt: toIso(expiresAt),
    app: { name: app.name, version: app.version },
    updateAvailable: hasUpdate(app.releases, { program: sent.version, app: app.version, until: null }, now),
    advisory: adviseOn(app.releases, sent.version, now)?.advisory ?? null,
    variables: await deps.variables.public(app),
  }
}

interface Build {
  hasSecret: boolean
  isAllowed: boolean
}

interface SentBuild extends Pick<Init, 'version' | 'hash'> {
  hasSecret: boolean
}

/** Refuses a program that may not open a session of the app. */
export async function refuseBuild(
  deps: Pick<ProgramDeps, 'ctx'>,
  app: AppFacts,
  sent: SentBuild,
): Promise<void> {
  const build = await readBuild(deps, app, sent)
  const refusal = verdict(factsOf('init', { app, build, now: deps.ctx.clock.now() }))
  if (refusal) throw withContext(refused(refusal), { detail: toDetail(build, sent) })
}

/** The list of allowed builds is read only for a program that knows the secret. */
async function readBuild({ ctx }: Pick<ProgramDeps, 'ctx'>, app: AppFacts, sent: SentBuild): Promise<Build> {
  const { hasSecret } = sent
  const isChecked = hasSecret && app.checkHash
  return { hasSecret, isAllowed: !isChecked || isAllowedBuild(await listAllowedHashes(ctx, app.id), sent) }
}

/** Whether an app accepts a build: an empty list accepts all, otherwise version and hash must be on it. */
function isAllowedBuild(
  allowed: readonly { version: string; hash: string }[],
  sent: Pick<Init, 'version' | 'hash'>,
): boolean {
  if (allowed.length === 0) return true
  const hash = sent.hash?.trim().toLowerCase()
  return allowed.some((one) => one.version === sent.version.trim() && one.hash.toLowerCase() === hash)
}

function toDetail({ hasSecret, isAllowed }: Build, { version, hash }: SentBuild): RefusalContext['detail'] {
  if (!hasSecret) return { cause: 'secret' }
  return isAllowed ? {} : { version, hash: hash ?? null }
}
