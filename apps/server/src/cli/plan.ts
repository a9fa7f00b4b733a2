import { systemClock, toIso } from '../core/clock.ts'
import type { CurrentPlan } from '../modules/owners/plan.rules.ts'
import { setPlan } from '../modules/plans/plans.service.ts'
import { command, print, UsageError, withDatabase } from './command.ts'

const daysDefault = 365
const daysMax = 36_500

type Term = { days?: string; forever?: boolean }

export const planCommand = command<Term>({
  name: 'plan',
  forms: [
    {
      form: 'plan <email> premium [--days N]',
      does: [
        'give the vendor with this email the premium plan',
        'for N days from now (default 365, at most 36500)',
      ],
    },
    { form: 'plan <email> premium --forever', does: ['give it without an end'] },
    {
      form: 'plan <email> free',
      does: [
        'take a paid or given plan away; nothing is deleted. The vendor',
        'then has the plan of DEFAULT_PLAN',
      ],
    },
  ],
  options: { days: { type: 'string' }, forever: { type: 'boolean' } },
  run: changePlan,
})

async function changePlan([email, plan, ...more]: string[], term: Term): Promise<void> {
  if (email === undefined || more.length > 0 || (plan !== 'premium' && plan !== 'free')) {
    throw new UsageError('Usage: keyward plan <email> premium|free')
  }
  if (plan === 'free' && term.days !== undefined) throw new UsageError('--days is only for premium.')
  if (plan === 'free' && term.forever) throw new UsageError('--forever is only for premium.')
  if (term.days !== undefined && term.forever) throw new UsageError('Use --days or --forever, not both.')
  const days = term.days === undefined ? daysDefault : Number(term.days)
  if (!Number.isInteger(days) || days < 1 || days > daysMax) {
    throw new UsageError(`--days takes a whole number from 1 to ${daysMax}.`)
  }
  await withDatabase(async (database, { defaultPlan }) => {
    const change = await setPlan(database, systemClock, { email, plan, days: term.forever ? null : days })
    if (!change) throw new UsageError(`There is no account with the email ${email}.`)
    print(`${change.email}: ${describe(change.before)} -> ${describe(change.after)}\n`)
    if (plan === 'free' && defaultPlan === 'premium')
      print('Every vendor of this server has premium (DEFAULT_PLAN), so this one keeps it.\n')
  })
}

const describe = ({ plan, until }: CurrentPlan): string => {
  if (plan === 'free') return plan
  return until === null ? `${plan} without an end` : `${plan} until ${toIso(until)}`
}
