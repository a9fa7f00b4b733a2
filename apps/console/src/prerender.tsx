import type { ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { MemoryRouter } from 'react-router'
import { paths } from './lib/navigation/paths.ts'
import { NotFoundPage } from './pages/not-found.tsx'
import { findSite, publicPages } from './pages/public/site.tsx'
import { type PageMeta, PageMetaSink } from './pages/public/use-page-meta.ts'

interface Prerendered extends PageMeta {
  path: string
  html: string
  /** Blocks input until the scripts are loaded. */
  inert: boolean
}

/** Renders the public pages to HTML, for the first paint and for visitors without scripts. */
export async function prerender(): Promise<Prerendered[]> {
  return Promise.all([...Object.keys(publicPages).map(renderPublic), renderAuth(), renderNotFound()])
}

async function renderPublic(path: string): Promise<Prerendered> {
  const Site = await findSite(path)!()
  return { path, inert: false, ...render(<Site />) }
}

async function renderAuth(): Promise<Prerendered> {
  const SignIn = await findSite(paths.auth)!()
  const { html } = render(<SignIn />)
  const description = 'Sign in to your Keyward console, or create an account.'
  return { path: paths.auth, inert: true, html, title: 'Sign In · Keyward', description }
}

/** The server sends it for every unknown path. */
function renderNotFound(): Prerendered {
  const page = (
    <MemoryRouter>
      <NotFoundPage />
    </MemoryRouter>
  )
  const { html } = render(page)
  const description = 'This page does not exist.'
  return { path: '/not-found', inert: false, html, title: 'Page not found · Keyward', description }
}

function render(page: ReactNode): { html: string } & PageMeta {
  let meta: PageMeta = { title: '', description: '' }
  const sink = (reported: PageMeta) => {
    meta = reported
  }
  const html = renderToString(<PageMetaSink.Provider value={sink}>{page}</PageMetaSink.Provider>)
  return { html, ...meta }
}
