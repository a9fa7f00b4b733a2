import type { Artifact } from '@keyward/contract'

/** A machine that an artifact runs on. */
export interface Target {
  platform: string
  architecture: string
}

/** The names that updaters and compilers use for the same thing. */
const platforms: Record<string, string> = {
  win: 'windows',
  win32: 'windows',
  win64: 'windows',
  mac: 'macos',
  osx: 'macos',
  darwin: 'macos',
}
const architectures: Record<string, string> = {
  x86_64: 'x64',
  amd64: 'x64',
  aarch64: 'arm64',
  i386: 'x86',
  i686: 'x86',
  ia32: 'x86',
  armv7: 'arm',
  armv7l: 'arm',
}

const nameIn = (names: Record<string, string>, name: string): string => {
  const lower = name.toLowerCase()
  return Object.hasOwn(names, lower) ? (names[lower] as string) : lower
}

export const isOfPlatform = (artifact: Pick<Artifact, 'platform'>, platform: string): boolean =>
  nameIn(platforms, artifact.platform) === nameIn(platforms, platform)

/** The artifacts that run on a machine; those of its own architecture come before those of all. */
export function artifactsFor<A extends Target>(artifacts: readonly A[], target: Target): A[] {
  const wanted = nameIn(architectures, target.architecture)
  const ofPlatform = artifacts.filter((one) => isOfPlatform(one, target.platform))
  const of = (architecture: string) =>
    ofPlatform.filter((one) => nameIn(architectures, one.architecture) === architecture)
  return wanted === 'universal' ? of(wanted) : [...of(wanted), ...of('universal')]
}
