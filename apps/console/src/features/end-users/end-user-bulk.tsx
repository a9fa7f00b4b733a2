import type { ListedClient } from '@keyward/contract'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { endUserName } from '../../lib/format/end-user-name.ts'
import { formatNumber } from '../../lib/format/numbers.ts'
import { amountOf } from '../../lib/format/words.ts'
import type { BulkNoun } from '../../ui/bulk-noun.ts'
import { BulkSelection, type BulkSelectionProps } from '../../ui/bulk-selection.tsx'
import { Names } from '../../ui/names.tsx'
import { OfflineNote } from './offline-note.tsx'
import { undoEndUsers } from './queries.ts'

/** The actions for the selected end users. */
export const EndUserSelection = (props: BulkSelectionProps<ListedClient>) => (
  <BulkSelection of={endUserBulk} {...props} />
)

const withKey = (users: readonly ListedClient[]) =>
  users.filter(({ licenseKey }) => licenseKey !== null).length

const endUserBulk: BulkNoun<ListedClient> = {
  noun: 'end user',
  label: (user) => <bdi>{endUserName(user)}</bdi>,
  isBanned: ({ ban }) => ban,
  change: (body, idempotencyKey) => call(wire.bulk.clients, { body, idempotencyKey }),
  undo: undoEndUsers,
  extension: (users) => ({
    shorten: {
      label: 'Shorten the subscription',
      warning: 'The subscription ends later or never. The new expiry shortens it.',
    },
    unchanged: (count) =>
      `${amountOf(count, 'never expires, and stays', 'never expire, and stay')} unchanged.`,
    submitLabel: 'Extend Subscriptions',
    note: withKey(users) > 0 && 'Their licenses get the same expiry.',
  }),
  questions: {
    ban: (users) => ({
      description: <>The next call from {namesOf(users)} is rejected. You can lift the ban at any time.</>,
      confirmLabel: 'Ban Users',
      note: <OfflineNote users={users} />,
    }),
    unban: (users) => ({
      description: <>{namesOf(users)} can sign in again, as long as the subscription has not expired.</>,
      confirmLabel: 'Unban Users',
    }),
    'reset-hwid': (users) => ({
      description: (
        <>
          This clears the hardware lock of {namesOf(users)} and allows login from a different device. The lock
          binds to the next device that signs in. An open session can run on until another device takes its
          place.
        </>
      ),
      confirmLabel: 'Reset HWIDs',
      note: <OfflineNote users={users} />,
    }),
    delete: (users) => {
      const keyed = withKey(users)
      return {
        description: (
          <>
            The accounts of {namesOf(users)}, their passwords and their hardware locks are deleted. This
            action cannot be undone.
          </>
        ),
        confirmLabel: 'Delete Users',
        inUse: users.filter(({ status }) => status === 'active').length,
        loss:
          keyed > 0
            ? `${keyed === 1 ? 'One license key becomes' : `The keys of ${formatNumber(keyed)} of them become`} free. Anyone who has such a key can register with it again until it expires.`
            : undefined,
        note: <OfflineNote users={users} />,
      }
    },
  },
  done: {
    extend: () => ({ title: 'Subscriptions Extended' }),
    ban: (amount) => ({ title: 'Users Banned', description: `${amount} can no longer sign in.` }),
    unban: (amount) => ({ title: 'Users Unbanned', description: `${amount} can sign in again.` }),
    'reset-hwid': (amount) => ({
      title: 'HWIDs Reset',
      description: `${amount} can sign in from a different device.`,
    }),
    delete: (amount) => ({ title: 'Users Deleted', description: `${amount} permanently deleted.` }),
  },
}

const namesOf = (users: readonly ListedClient[]) => <Names names={users.map(endUserName)} />
