import { readFileSync } from 'node:fs'

let prototypes: ReadonlyMap<string, string> | undefined

/** Equal for names that look alike (the skeleton of UTS 39), compared without case. */
export function toSkeleton(name: string): string {
  prototypes ??= readPrototypes()
  // Behind a small letter, as in PayPaI, a capital I reads as a small L.
  const lower = name
    .normalize('NFKC')
    .replace(/(?<=\p{Ll})[I\u0399\u0406]/gu, 'l')
    .toLowerCase()
  const visible = lower.normalize('NFD').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  return [...visible]
    .map((character) => prototypes?.get(character) ?? character)
    .join('')
    .toLowerCase()
    .normalize('NFD')
}

function readPrototypes(): ReadonlyMap<string, string> {
  const lines = readFileSync(new URL('confusables.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
  const toText = (hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))
  return new Map(
    lines
      .filter((line) => !line.startsWith('#'))
      .flatMap((line) => {
        const [prototype = '', lookalikes = ''] = line.split(':')
        const text = prototype.split('+').map(toText).join('')
        return lookalikes.split(' ').map((hex) => [toText(hex), text] as const)
      }),
  )
}
