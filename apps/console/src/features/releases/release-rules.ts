import type { Artifact, Release } from '@keyward/contract'

const dayMs = 86_400_000

/** How a form registers an optional text. */
export const orNull = { setValueAs: (value: string | null) => value?.trim() || null }

/** A release of today ends with its day. */
export const isOut = ({ releasedAt }: Pick<Release, 'releasedAt'>, now: number) =>
  Date.parse(releasedAt) < now + dayMs

const inOrder = (a: string, b: string) => a.localeCompare(b, 'en-US', { numeric: true })

type Listed = Pick<Release, 'version' | 'releasedAt' | 'channel' | 'withdrawnAt' | 'security'>

/** The newest stable release that a license covers whose updates end at a time. A security fix is for every license. */
export const newestCovered = <R extends Listed>(
  releases: readonly R[],
  until: number,
  now: number,
): R | undefined =>
  releases
    .filter((release) => release.channel === 'stable' && release.withdrawnAt === null && isOut(release, now))
    .filter(({ security, releasedAt }) => security !== null || Date.parse(releasedAt) <= until)
    .toSorted((a, b) => inOrder(a.version, b.version))
    .at(-1)

/** The version that usually follows the newest of these. */
export function nextVersion(versions: readonly string[]): string {
  const newest = versions.toSorted(inOrder).at(-1) ?? ''
  return newest.replace(/\d+$/, (patch) => String(Number(patch) + 1))
}

const firstOf = (name: string, kinds: readonly (readonly [RegExp, string])[], other: string): string =>
  kinds.find(([pattern]) => pattern.test(name))?.[1] ?? other

/** What the name of a file says of it. */
export function guessArtifact(name: string): Pick<Artifact, 'platform' | 'architecture' | 'kind'> {
  return {
    platform: firstOf(
      name,
      [
        [/\.(exe|msi|msix|nupkg)$|win/i, 'windows'],
        [/\.(dmg|pkg)$|mac|darwin|\.app\./i, 'macos'],
        [/\.(appimage|deb|rpm)|linux/i, 'linux'],
      ],
      'windows',
    ),
    architecture: firstOf(
      name,
      [
        [/universal/i, 'universal'],
        [/arm64|aarch64/i, 'arm64'],
        [/ia32|i[36]86|x86(?!_64)/i, 'x86'],
      ],
      'x64',
    ),
    kind: firstOf(
      name,
      [
        [/-full\.nupkg$/i, 'full'],
        [/-delta\.nupkg$/i, 'delta'],
        [/\.(zip|tar|gz|tgz|xz|7z)$/i, 'archive'],
      ],
      'installer',
    ),
  }
}

/** The address of a file in the folder of another one; empty if there is none. */
export const besides = (url: string | undefined, name: string): string =>
  url === undefined ? '' : (URL.parse(encodeURIComponent(name), url)?.href ?? '')
