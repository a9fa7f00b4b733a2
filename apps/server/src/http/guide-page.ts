import { readFileSync } from 'node:fs'
import { Marked, type Tokens } from 'marked'
import { escapeHtml, renderFrame } from './docs-frame.ts'

const folder = new URL('../../../../docs/', import.meta.url)

/** Documents of the repository that vendors read: path below `/docs/` and title. */
export const guides = {
  'api-keys': 'API keys',
  automation: 'Automation',
  'client-protocol': 'The protocol of programs',
  compatibility: 'Programs with the libraries of KeyAuth',
  events: 'Events and webhooks',
  licensing: 'Licensing models',
  migration: 'Moving to Keyward',
  shops: 'Shops',
} as const

/** Renders a document of the repository as a page. */
export function renderGuide(name: keyof typeof guides, basePath: string): string {
  const headings: { id: string; text: string }[] = []
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = anchor(text)
        if (depth === 2) headings.push({ id, text })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>`
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens)
        const target = toTarget(href, basePath)
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`
      },
    },
  })
  const main = marked
    .parse(readFileSync(new URL(`${name}.md`, folder), 'utf8'), { async: false })
    .replaceAll('<table>', '<div class="scroll"><table>')
    .replaceAll('</table>', '</table></div>')
  return renderFrame({
    title: guides[name],
    subtitle: guides[name],
    description: `${guides[name]}, in every detail.`,
    basePath,
    nav: headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join(''),
    main,
  })
}

/** Links to files that this server does not serve become plain text. */
function toTarget(href: string, basePath: string): string | undefined {
  if (/^(#|https?:)/.test(href)) return href
  const [, name = '', fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  return Object.hasOwn(guides, name) ? `${basePath}/docs/${name}${fragment}` : undefined
}

/** Makes the anchor that the usual code hosts make for a heading. */
const anchor = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
