// Second half of the build: writes a page for every path into dist/pages, for the server to send. Those that people
// come to from outside are there as HTML; the others name the files that the browser would find out one by one.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { consolePaths, itemPaths } from '@keyward/contract/console-paths'
import { build } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))
const compiled = join(here, 'dist-prerender')

// Modules of the console look at the browser when they are loaded; here they see one with no preferences.
const nothing = () => {}
globalThis.window = {
  matchMedia: () => ({ matches: false, addEventListener: nothing }),
  addEventListener: nothing,
}
globalThis.localStorage = { getItem: () => null }

await build({
  root: here,
  logLevel: 'warn',
  build: {
    ssr: 'src/prerender.tsx',
    outDir: compiled,
    emptyOutDir: true,
    manifest: false,
    copyPublicDir: false,
  },
})
const { prerender } = await import(pathToFileURL(join(compiled, 'prerender.js')).href)
const template = readFileSync(join(here, 'dist', 'index.html'), 'utf8')
const manifest = JSON.parse(readFileSync(join(here, 'dist', '.vite', 'manifest.json'), 'utf8'))
const pages = new Map((await prerender()).map((page) => [page.path, page]))
for (const path of Object.values(consolePaths)) {
  const page = pages.get(path)
  // What is on the screen at once needs no hurry: preloads would only hold its styles up.
  write(path, page ? fill(page) : template.replace('</head>', () => `${preloads(partsOf(path))}</head>`))
}
for (const name of Object.keys(itemPaths)) {
  write(
    `/items/${name}`,
    template.replace('</head>', () => `${preloads(partsOf(`/${name}`))}</head>`),
  )
}
write('/not-found', fill(pages.get('/not-found')))
rmSync(compiled, { recursive: true })

await build({ root: here, configFile: join(here, 'customer.config.ts'), logLevel: 'warn' })
renameSync(join(here, 'dist', 'customer.html'), join(here, 'dist', 'pages', 'customer.html'))

function write(path, html) {
  const file = join(here, 'dist', 'pages', `${path === '/' ? 'index' : path.slice(1)}.html`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, html)
}

/** The modules that a page of the console is made of. */
function partsOf(path) {
  const page = (folder) =>
    `src/pages/${folder}${path.slice(path.lastIndexOf('/') + 1).replace(/^users$/, 'end-users')}.tsx`
  const app = ['src/app.tsx', 'src/pages/console-root.tsx']
  if (path === consolePaths.resellerAuth) return ['src/pages/reseller/sign-in-root.tsx']
  const password = /^(\/reseller)?\/auth\/\w+$/.exec(path)
  if (password) return [...app, `src/pages${password[1] ?? ''}/auth.tsx`]
  const parts = path.startsWith('/reseller/')
    ? [...app, 'src/pages/reseller/shell.tsx', page('reseller/')]
    : [...app, 'src/pages/owner/shell.tsx', page('owner/')]
  return parts.filter((part) => manifest[part])
}

function preloads(parts) {
  const seen = new Set()
  const visit = (name) => {
    if (seen.has(manifest[name].file)) return
    seen.add(manifest[name].file)
    for (const next of manifest[name].imports ?? []) visit(next)
  }
  for (const part of parts) visit(part)
  return [...seen].map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`).join('')
}

function fill({ html, title, description, inert }) {
  const meta = [
    ['property', 'og:type', 'website'],
    ['property', 'og:site_name', 'Keyward'],
    ['property', 'og:title', title],
    ['property', 'og:description', description],
  ].map(([attribute, name, content]) => `<meta ${attribute}="${name}" content="${escapeHtml(content)}" />`)
  return template
    .replace(/<title>.*?<\/title>/, () => `<title>${escapeHtml(title)}</title>${meta.join('')}`)
    .replace(
      /(<meta name="description" content=")[^"]*"/,
      (_, start) => `${start}${escapeHtml(description)}"`,
    )
    .replace(
      '<div id="root"></div>',
      () => `<div id="root" data-prerendered${inert ? ' inert' : ''}>${html}</div>`,
    )
    .replace(/<noscript>.*?<\/noscript>/, '')
}

function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
