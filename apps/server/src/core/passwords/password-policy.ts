import { createRequire } from 'node:module'
import type { Config } from '../../config.ts'
import { invalid, problem } from '../problem.ts'

interface Policy {
  config: Pick<Config, 'passwordPolicy'>
}

const strictMin = 8
const require = createRequire(import.meta.url)

/** The rules of PASSWORD_POLICY=strict; the schema checks the basic length. */
export function checkPassword(ctx: Policy, path: string, password: string): void {
  if (ctx.config.passwordPolicy !== 'strict') return
  checkLength(path, password)
  if (isCommon(password)) throw invalid(path, 'This password is too common. Please choose another one')
}

/** Rejects common passwords of end users who register in a vendor's program, which has its own error codes. */
export function checkEndUserPassword(ctx: Policy, password: string, isAppStrict: boolean): void {
  if (ctx.config.passwordPolicy === 'strict') {
    checkLength('password', password)
    if (isCommon(password)) throw problem('pwLeaked')
  }
  if (isAppStrict && isMostCommon(password)) throw problem('pwLeaked')
}

function checkLength(path: string, password: string): void {
  if (password.length < strictMin) throw invalid(path, `Password must have at least ${strictMin} characters`)
}

let common: Set<string> | undefined
let mostCommon: Set<string> | undefined
const mostCommonCount = 10_000

/** Whether a password is in the list of common ones, ignoring case, or repeats one character. */
function isCommon(password: string): boolean {
  common ??= new Set(readCommon())
  return isIn(common, password)
}

function isMostCommon(password: string): boolean {
  mostCommon ??= new Set(readCommon().slice(0, mostCommonCount))
  return isIn(mostCommon, password)
}

function isIn(list: ReadonlySet<string>, password: string): boolean {
  const plain = password.normalize('NFKC').toLowerCase()
  return list.has(plain) || /^(.)\1+$/su.test(plain)
}

/** Sorted by frequency. Loaded on first use: the list takes megabytes that a server may never need. */
function readCommon(): string[] {
  const { dictionary } = require('@zxcvbn-ts/language-common') as {
    dictionary: { 'passwords-common': string[] }
  }
  return dictionary['passwords-common']
}
