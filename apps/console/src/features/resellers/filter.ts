export const statusFacts = { active: { label: 'Active' }, suspended: { label: 'Suspended' } }

export interface ResellerFilter {
  app: string | undefined
  status: keyof typeof statusFacts | undefined
  search: string | undefined
}
