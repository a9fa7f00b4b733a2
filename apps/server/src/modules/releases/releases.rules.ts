import { day } from '../../core/clock.ts'
import type { ReleaseRow } from '../../db/tables.ts'

/** A release of today ends with its day. */
export const outBefore = (now: number): number => now + day

export const isOut = ({ released_at }: Pick<ReleaseRow, 'released_at'>, now: number): boolean =>
  released_at < outBefore(now)

/** Whether a release can be the version of its app. */
export const isCurrent = (
  release: Pick<ReleaseRow, 'channel' | 'released_at' | 'withdrawn_at'>,
  now: number,
): boolean => release.channel === 'stable' && release.withdrawn_at === null && isOut(release, now)

type Fix = Pick<ReleaseRow, 'version' | 'released_at' | 'security'>

/** Whether a change of a release takes back a security fix that is out, which no license may lose. */
export const takesBackFix = (before: Fix, after: Fix, now: number): boolean =>
  before.security !== null &&
  isOut(before, now) &&
  (after.security === null || after.version !== before.version || !isOut(after, now))
