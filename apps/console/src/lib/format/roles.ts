import type { Role } from '@keyward/contract'

/** What each role is called, and what it may do. */
export const roleFacts: Record<Role, { label: string; about: string }> = {
  owner: { label: 'Owner', about: 'May do everything.' },
  manager: {
    label: 'Manager',
    about: 'Runs apps, licenses, end users and resellers.',
  },
  support: {
    label: 'Support',
    about:
      'Helps end users: creates, extends, bans and resets them. Reads apps and licenses, creates none of them, deletes nothing.',
  },
  viewer: { label: 'Viewer', about: 'Reads everything but secrets. Changes nothing.' },
  custom: { label: 'Custom', about: 'Has permissions of its own, and no others.' },
}
