import { readFileSync } from 'node:fs'
import type { files } from '../../vectors/generate.ts'

type Files = typeof files

/** Reads a file of vectors. */
export const vectors = <Name extends keyof Files & string>(name: Name): Files[Name] =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}`, import.meta.url), 'utf8'))
