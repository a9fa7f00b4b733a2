import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const fileName = 'third-party-notices.txt'
const isNotice = /^(licen[sc]e|copying|(copyright)?notice)\b/i
/** Packages without a license file, each with the package of the same author and license that has one. */
const licensedLike: Record<string, string> = { 'react-remove-scroll-bar': 'react-remove-scroll' }

/**
 * Writes the licenses of all packages in the build into a file, beside those that an earlier build has written there. A
 * package without a license text fails the build.
 */
export function notices(modules: string): Plugin {
  const imported = new Set<string>()
  return {
    name: 'keyward-notices',
    transform: {
      // Before Tailwind replaces the imports of styles by their content.
      order: 'pre',
      filter: { id: /\.css$/ },
      handler(code) {
        for (const [, source = ''] of code.matchAll(/@import\s+["']([^"']+)/g))
          imported.add(join(modules, source))
      },
    },
    generateBundle({ dir = '' }, bundle) {
      const sources = Object.values(bundle).flatMap((file) =>
        file.type === 'chunk' ? file.moduleIds : file.originalFileNames,
      )
      const written = join(dir, fileName)
      const earlier = existsSync(written) ? namesIn(readFileSync(written, 'utf8')) : []
      const names = [...imported, ...sources].map(packageOf).filter((name) => name !== undefined)
      this.emitFile({ type: 'asset', fileName, source: toNotices([...earlier, ...names], modules) })
    },
  }
}

/** The package that a module, file or helper of the bundler comes from; undefined for those of Keyward. */
export function packageOf(source: string): string | undefined {
  const helper = /^\0(vite|rolldown)\//.exec(source)
  if (helper) return helper[1]
  const path = source.replaceAll('\\', '/').split('/node_modules/').slice(1).at(-1)
  return path && /^(@[^/]+\/)?[^/]+/.exec(path)?.[0]
}

const line = `\n\n${'-'.repeat(80)}\n\n`

/** The packages of a file that `toNotices` has made. */
export const namesIn = (text: string) =>
  text
    .split(line)
    .slice(1)
    .map((part) => part.split(' ')[0] ?? '')

export function toNotices(names: string[], modules: string): string {
  const parts = [...new Set(names)].sort().map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
    const text = licenseOf(name, modules) ?? licenseOf(licensedLike[name] ?? name, modules)
    if (!text) throw new Error(`${name} is a part of the console, but has no license file (${license})`)
    return `${name} ${version} (${license})\n\n${text}`
  })
  return `The console of Keyward contains these packages of others, each under its own license.${line}${parts.join(line)}\n`
}

export function licenseOf(name: string, modules: string): string | undefined {
  const folder = join(modules, name)
  const files = readdirSync(folder).filter((file) => isNotice.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim())
  // Vite continues with packages that it contains itself, and that are no part of the console.
  return (
    texts.map((text) => text.split('\n# Licenses of bundled dependencies')[0]?.trim()).join('\n\n') ||
    undefined
  )
}
