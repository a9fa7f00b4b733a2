import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './ui/theme.css'
import { ownerSession } from './lib/api/session.ts'
import { applyTheme } from './lib/browser/theme.ts'
import { base, enterBase } from './lib/navigation/base.ts'
import { reload } from './lib/navigation/reload.ts'
import { findPublicSite } from './pages/public/site.tsx'

// A page left open during an update requests files that no longer exist. Reload it, but only while the server responds.
// The time stamp prevents a reload loop on a broken server.
window.addEventListener('vite:preloadError', async () => {
  const last = Number(sessionStorage.getItem('keyward-reloaded') ?? 0)
  if (Date.now() - last < 10_000) return
  const answer = await fetch(`${base}/api/health`, { cache: 'no-store' }).catch(() => undefined)
  if (!answer?.ok) return
  sessionStorage.setItem('keyward-reloaded', String(Date.now()))
  reload()
})

const isInside = enterBase()
const openPublicSite = ownerSession.get() === null ? findPublicSite(window.location.pathname) : undefined

/** Keeps the prerendered page on the screen until the page itself can replace it. */
async function start() {
  const Root = openPublicSite ? await openPublicSite() : (await import('./app.tsx')).App
  const container = document.getElementById('root')!
  applyTheme()
  for (const name of ['data-prerendered', 'inert']) container.removeAttribute(name)
  createRoot(container).render(
    <StrictMode>
      <Root />
    </StrictMode>,
  )
}

if (isInside) void start()
