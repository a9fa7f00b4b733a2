import type { Artifact, BodyOf, DataOf, endpoints } from '@keyward/contract'
import { toIso } from '../../../core/clock.ts'
import { readLinks } from '../../licenses/buy-links.ts'
import { covers, type ListedRelease, updatesOf } from '../../releases/catalog.rules.ts'
import { artifactsFor } from '../../releases/targets.rules.ts'
import type { SessionFacts } from '../facts/facts.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { readCoverage } from './coverage.ts'

type Updates = (typeof endpoints)['program']['updates']

/** The newest release that the license covers and this version may go to, and what a renewal would bring. */
export async function findUpdate(
  deps: ProgramDeps,
  session: SessionFacts,
  { channel, version, licenseKey, address, ...target }: BodyOf<Updates> & { address: string },
): Promise<DataOf<Updates>> {
  const { app } = session
  const { until, linked } = await readCoverage(deps, session, { licenseKey, address })
  const files = await deps.files.get(app)
  const wanted = { channel, version: version ?? session.version }
  let newest: ListedRelease | undefined
  for (const release of updatesOf(app.releases, wanted, deps.ctx.clock.now())) {
    const { artifacts = [], notes = null } = files.get(release.id) ?? {}
    const artifact = artifactFor(artifacts, target)
    if (artifact === undefined) continue
    newest ??= release
    if (!covers(release, until)) continue
    const { releasedAt, link, security } = release
    return {
      update: {
        version: release.version,
        releasedAt: toIso(releasedAt),
        notes,
        url: link,
        artifact,
        security,
      },
      beyond: release === newest ? null : await beyond(newest.version),
    }
  }
  return { update: null, beyond: newest ? await beyond(newest.version) : null }

  async function beyond(newer: string) {
    return { version: newer, links: await readLinks(deps.ctx, app, linked) }
  }
}

/** The artifact for a machine; null for a release without any, undefined for one that has only others. */
function artifactFor(
  artifacts: readonly Artifact[],
  target: Pick<Artifact, 'platform' | 'architecture'>,
): Artifact | null | undefined {
  if (artifacts.length === 0) return null
  return artifactsFor(artifacts, target).find(({ kind }) => kind !== 'delta')
}
