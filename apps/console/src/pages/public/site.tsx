import type { ComponentType } from 'react'
import { paths } from '../../lib/navigation/paths.ts'

const landing = async () => (await import('./landing.tsx')).LandingPage

/** The pages that are there for visitors, by path. */
export const publicPages: Record<string, (() => Promise<ComponentType>) | undefined> = {
  [paths.root]: landing,
  [paths.landing]: landing,
  [paths.about]: async () => (await import('./about.tsx')).AboutPage,
  [paths.terms]: async () => (await import('./terms.tsx')).TermsPage,
  [paths.privacy]: async () => (await import('./privacy.tsx')).PrivacyPage,
}

/**
 * What a visitor sees who comes from outside; undefined where the path is not public. Without the router, which
 * would be an eighth of all that these pages load: their links are plain ones.
 */
export function findPublicSite(pathname: string): (() => Promise<ComponentType>) | undefined {
  const load = publicPages[pathname]
  if (!load) return undefined
  return async () => {
    const [{ PublicFrame }, Page] = await Promise.all([import('./public-frame.tsx'), load()])
    return () => (
      <PublicFrame>
        <Page />
      </PublicFrame>
    )
  }
}
