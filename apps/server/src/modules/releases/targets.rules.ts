import type { Artifact } from '@keyward/contract'

/** A machine that an artifact runs on. */
export interface Target {
  platform: string
  architecture: string
}

/** The names that updaters and compilers use for the same thing. */
const platforms = new Map(
  Object.entries({
    win: 'windows',
    win32: 'windows',
    win64: 'windows',
    mac: 'macos',
    osx: 'macos',
    darwin: 'macos',
  }),
)
const architectures = new Map(
  Object.entries({
    x86_64: 'x64',
    amd64: 'x64',
    aarch64: 'arm64',
    i386: 'x86',
    i686: 'x86',
    ia32: 'x86',
    armv7: 'arm',
    armv7l: 'arm',
  }),
)

const nameIn = (names: ReadonlyMap<string, string>, name: string): string => {
  const lower = name.toLowerCase()
  return names.get(lower) ?? lower
}

export const isOf = (platform: string): ((artifact: Pick<Artifact, 'platform'>) => boolean) => {
  const wanted = nameIn(platforms, platform)
  return (artifact) => nameIn(platforms, artifact.platform) === wanted
}

/** The artifacts that run on a machine; those of its own architecture come before those of all. */
export function artifactsFor<A extends Target>(artifacts: readonly A[], target: Target): A[] {
  const wanted = nameIn(architectures, target.architecture)
  const ofPlatform = artifacts.filter(isOf(target.platform))
  const of = (architecture: string) =>
    ofPlatform.filter((one) => nameIn(architectures, one.architecture) === architecture)
  return wanted === 'universal' ? of(wanted) : [...of(wanted), ...of('universal')]
}
