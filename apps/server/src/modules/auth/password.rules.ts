import type { Ctx } from '../../core/ctx.ts'
import { invalid } from '../../core/problem.ts'

const strictMin = 8

// The head of every published list of leaked passwords; enough to refuse what is guessed first.
const common = new Set(
  `12345678 123456789 1234567890 password password1 password123 passw0rd qwerty123 qwertyuiop 1q2w3e4r
  1qaz2wsx iloveyou sunshine princess football baseball welcome1 admin123 letmein1 abc12345 11111111
  00000000 87654321 123123123 asdfghjkl zxcvbnm1 superman trustno1 dragon123 monkey123 changeme
  computer internet whatever starwars michelle jennifer`
    .split(/\s+/)
    .filter(Boolean),
)

/** The rules of PASSWORD_POLICY=strict; the basic length is the schema's. */
export function checkPassword(ctx: Pick<Ctx, 'config'>, path: string, password: string): void {
  if (ctx.config.passwordPolicy !== 'strict') return
  if (password.length < strictMin) throw invalid(path, `Password must have at least ${strictMin} characters`)
  const plain = password.toLowerCase()
  if (common.has(plain) || /^(.)\1+$/.test(plain)) {
    throw invalid(path, 'This password is too common. Please choose another one')
  }
}
