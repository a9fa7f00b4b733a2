import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './ui/theme.css'
import { ownerSession } from './lib/api/session.ts'
import { keepSearchKeys } from './lib/browser/search-keys.ts'
import { applyTheme } from './lib/browser/theme.ts'
import { enterBase } from './lib/navigation/base.ts'
import { reloadForMissingFile } from './lib/navigation/reload.ts'
import { findSite } from './pages/public/site.tsx'

window.addEventListener('vite:preloadError', () => void reloadForMissingFile())

if (ownerSession.get() !== null) keepSearchKeys()
const isInside = enterBase()
const openSite = findSite(window.location.pathname)

/** Keeps the prerendered page on the screen until the page itself can replace it. */
async function start() {
  const Root = openSite ? await openSite() : (await import('./app.tsx')).App
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
