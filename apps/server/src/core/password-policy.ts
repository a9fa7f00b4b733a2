import { createRequire } from 'node:module'
import type { Ctx } from './ctx.ts'
import { invalid, problem } from './problem.ts'

type Policy = Pick<Ctx, 'config'>

const strictMin = 8
const require = createRequire(import.meta.url)

/** The rules of PASSWORD_POLICY=strict; the basic length is the schema's. */
export function checkPassword(ctx: Policy, path: string, password: string): void {
  if (ctx.config.passwordPolicy !== 'strict') return
  checkLength(path, password)
  if (isCommon(password)) throw invalid(path, 'This password is too common. Please choose another one')
}

/** The same for an end user who registers in a vendor's program, which knows the reason by its own code. */
export function checkEndUserPassword(ctx: Policy, password: string): void {
  if (ctx.config.passwordPolicy !== 'strict') return
  checkLength('password', password)
  if (isCommon(password)) throw problem('pwLeaked')
}

function checkLength(path: string, password: string): void {
  if (password.length < strictMin) throw invalid(path, `Password must have at least ${strictMin} characters`)
}

let common: Set<string> | undefined

/** Whether a password is one of the most common ones, in whatever case, or one character again and again. */
function isCommon(password: string): boolean {
  common ??= readCommon()
  const plain = password.normalize('NFKC').toLowerCase()
  return common.has(plain) || /^(.)\1+$/su.test(plain)
}

/** Read by the first check alone: it takes megabytes that a server with the basic policy does not need. */
function readCommon(): Set<string> {
  const { dictionary } = require('@zxcvbn-ts/language-common') as {
    dictionary: { 'passwords-common': string[] }
  }
  return new Set(dictionary['passwords-common'])
}
