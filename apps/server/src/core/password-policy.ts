import { createRequire } from 'node:module'
import type { Ctx } from './ctx.ts'
import { invalid, problem } from './problem.ts'

type Policy = Pick<Ctx, 'config'>

const strictMin = 8
const require = createRequire(import.meta.url)

/** The rules of PASSWORD_POLICY=strict; the schema checks the basic length. */
export function checkPassword(ctx: Policy, path: string, password: string): void {
  if (ctx.config.passwordPolicy !== 'strict') return
  checkLength(path, password)
  if (isCommon(password)) throw invalid(path, 'This password is too common. Please choose another one')
}

/** Like `checkPassword` for an end user registering in a vendor's program, which has its own error codes. */
export function checkEndUserPassword(ctx: Policy, password: string): void {
  if (ctx.config.passwordPolicy !== 'strict') return
  checkLength('password', password)
  if (isCommon(password)) throw problem('pwLeaked')
}

function checkLength(path: string, password: string): void {
  if (password.length < strictMin) throw invalid(path, `Password must have at least ${strictMin} characters`)
}

let common: Set<string> | undefined

/** Whether a password is in the list of common ones, ignoring case, or repeats one character. */
function isCommon(password: string): boolean {
  common ??= readCommon()
  const plain = password.normalize('NFKC').toLowerCase()
  return common.has(plain) || /^(.)\1+$/su.test(plain)
}

/** Loaded on first use: the list takes megabytes that a server with the basic policy does not need. */
function readCommon(): Set<string> {
  const { dictionary } = require('@zxcvbn-ts/language-common') as {
    dictionary: { 'passwords-common': string[] }
  }
  return new Set(dictionary['passwords-common'])
}
