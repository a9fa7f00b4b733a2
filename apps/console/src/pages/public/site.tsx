import type { ComponentType } from 'react'
import { ownerSession, resellerSession } from '../../lib/api/session.ts'
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

/** Loads a page that has a root of its own: a public one, or one to sign in. Undefined for the console and the portal. */
export function findSite(pathname: string): (() => Promise<ComponentType>) | undefined {
  if (pathname === paths.resellerAuth && resellerSession.get() === null)
    return async () => (await import('../reseller/sign-in-root.tsx')).ResellerSignInRoot
  if (ownerSession.get() !== null) return undefined
  if (pathname === paths.auth) return async () => (await import('../sign-in-root.tsx')).SignInRoot
  return findPublicSite(pathname)
}
