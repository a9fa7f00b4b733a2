import type { Reseller } from '@keyward/contract'

export const statusFacts = { active: { label: 'Active' }, suspended: { label: 'Suspended' } }

export interface ResellerFilter {
  app: string | undefined
  status: keyof typeof statusFacts | undefined
  search: string | undefined
}

/** In the browser: the whole list is there for the summary. */
export function filterResellers(resellers: Reseller[], { app, status, search }: ResellerFilter): Reseller[] {
  const wanted = search?.trim().toLowerCase()
  return resellers.filter(
    (reseller) =>
      (app === undefined || reseller.app_id._id === app) &&
      (status === undefined || reseller.active === (status === 'active')) &&
      (!wanted || reseller.email.toLowerCase().includes(wanted)),
  )
}
