// Finds places of the console that write without useWrite, whose second submit would be sent.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const console_ = 'apps/console/src/'
const door = `${console_}lib/api/write.ts`
const rule = 'rule: the console writes by useWrite, and signs in by useAttempt, which send a submit once'

/** Files that hand their writes to a component that calls one of these, lock them themselves, or only end a session. */
const others = [
  'features/subscription/use-checkout.ts',
  'features/account/session.ts',
  'pages/auth.tsx',
  'pages/sign-in.tsx',
  'pages/reseller/auth.tsx',
  'pages/reseller/sign-in.tsx',
  'features/portal/session.ts',
  'pages/console-root.tsx',
]

/** The calls that change something, such as `licenses.create`. */
function writesOf(root) {
  const folder = join(root, 'packages/contract/src')
  if (!existsSync(folder)) return new Set()
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  return new Set(
    texts.flatMap((text) =>
      text.split(/^export const /m).flatMap((part) => {
        const noun = /^\w+/.exec(part)?.[0]
        return [...part.matchAll(/^ {2}(\w+): endpoint\(\{\s+method: '(?!GET)/gm)].map(
          ([, name]) => `${noun}.${name}`,
        )
      }),
    ),
  )
}

export function findLooseWrites(root, files) {
  const writes = writesOf(root)
  return files
    .filter((file) => file.startsWith(console_) && !file.startsWith(`${console_}customer/`) && file !== door)
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      if (/\buseMutation\b/.test(text)) return [`${file} uses useMutation\n    ${rule}`]
      // A BulkNoun says what useBulk calls.
      if (
        /\b(useWrite|useAttempt|useBulk|BulkNoun)[(<]/.test(text) ||
        others.includes(file.slice(console_.length))
      )
        return []
      return [...text.matchAll(/\bcall(?:WithMessage)?\(\s*wire\.(\w+\.\w+)/g)]
        .filter(([, name]) => writes.has(name))
        .map(([, name]) => `${file} calls ${name}\n    ${rule}`)
    })
}
