import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './ui/theme.css'
import { ownerSession } from './lib/api/session.ts'
import { applyTheme } from './lib/browser/theme.ts'
import { base, enterBase } from './lib/navigation/base.ts'
import { reload } from './lib/navigation/reload.ts'
import { findPublicSite } from './pages/public/site.tsx'

// A page left open over an update asks for files that are gone. Loading it anew brings the present ones, but only a
// server that answers can give them: while there is none, the page stays and says so. The time stamp keeps a server
// that is really broken from making it a loop.
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

/** What the server sent of a public page stays on the screen until the page itself can take its place. */
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
