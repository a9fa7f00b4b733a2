import type { ComponentType } from 'react'
import { paths } from '../../lib/navigation/paths.ts'

const landing = async () => (await import('./landing.tsx')).LandingPage

/** The public pages by path. */
export const publicPages: Record<string, (() => Promise<ComponentType>) | undefined> = {
  [paths.root]: landing,
  [paths.landing]: landing,
  [paths.about]: async () => (await import('./about.tsx')).AboutPage,
  [paths.terms]: async () => (await import('./terms.tsx')).TermsPage,
  [paths.privacy]: async () => (await import('./privacy.tsx')).PrivacyPage,
}

/**
 * Loads a public page; undefined if the path is not public. Works without the router, which would be an eighth of the
 * page's size: the links are plain ones.
 */
function findPublicSite(pathname: string): (() => Promise<ComponentType>) | undefined {
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

/** Loads the page to sign in, which has a root of its own as well, or a public page. */
export const findSite = (pathname: string): (() => Promise<ComponentType>) | undefined =>
  pathname === paths.auth
    ? async () => (await import('../sign-in-root.tsx')).SignInRoot
    : findPublicSite(pathname)
