// Runs before the first paint, so that the page never flashes in the wrong theme, nor shows the HTML
// of another page first. src/lib/browser/theme.ts and src/lib/api/session.ts use the same keys.
;(() => {
  const base = document.documentElement.dataset.base ?? ''
  let choice = 'system'
  try {
    choice = localStorage.getItem('keyward-theme') || 'system'
    const signedIn = localStorage.getItem(`keyward-owner-token${base}`) !== null
    document.documentElement.classList.toggle('other-page', signedIn || location.search !== '')
  } catch {}
  const dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
  const meta = document.querySelector('meta[name="theme-color"]')
  if (meta && dark) meta.setAttribute('content', '#0b0c0f')
})()
