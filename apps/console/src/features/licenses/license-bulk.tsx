import type { BulkLicenseAction, License, ListedLicense } from '@keyward/contract'
import { Download } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { call } from '../../lib/api/call.ts'
import { wire } from '../../lib/api/wire.ts'
import { keyPrefix } from '../../lib/format/license-key.ts'
import { amountOf } from '../../lib/format/words.ts'
import type { BulkNoun } from '../../ui/bulk-noun.ts'
import { BulkSelection, type BulkSelectionProps } from '../../ui/bulk-selection.tsx'
import { Button } from '../../ui/button.tsx'
import { ChooseAllDialog, type ChooseAllProps } from '../../ui/choose-all.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Names } from '../../ui/names.tsx'
import { saveLicenses } from './export-selected.ts'
import { undoLicenses } from './queries.ts'

/** The actions for the selected licenses. */
export const LicenseSelection = (props: BulkSelectionProps<License, BulkLicenseAction>) => (
  <BulkSelection of={licenseBulk} {...props} />
)

/** Chooses all licenses that match the filters of the list. */
export const ChooseAllLicenses = (props: ChooseAllProps<ListedLicense> & { onClose: () => void }) => (
  <ChooseAllDialog noun="licenses" {...props} />
)

const licenseBulk: BulkNoun<License, BulkLicenseAction> = {
  noun: 'license',
  label: ({ key }) => keyPrefix(key),
  isBanned: ({ banned }) => banned,
  change: (body, idempotencyKey) => call(wire.bulk.licenses, { body, idempotencyKey }),
  undo: undoLicenses,
  extension: (rows) => {
    const used = usedOf(rows).length
    return {
      shorten: {
        label: 'Shorten the license',
        warning: 'The license expires later, or has no date yet. The new expiry shortens it.',
      },
      unchanged: (count) =>
        `${amountOf(count, 'never expires or was not used yet, and stays', 'never expire or were not used yet, and stay')} unchanged.`,
      submitLabel: 'Extend Licenses',
      note: used > 0 && `${amountOf(used, 'is', 'are')} in use. Their end users get the same expiry.`,
    }
  },
  questions: {
    ban: (rows) => {
      const [used, added] = [usedOf(rows), addedOf(rows)]
      return {
        description: `Programs that use ${rows.length === 1 ? 'it' : 'them'} are rejected on their next call, and offline ones when their lease or activation file ends. You can lift the ban at any time.`,
        confirmLabel: 'Ban Licenses',
        loss: sentences(
          used.length > 0 && <>{usersOf(used)} shut out until you lift the ban.</>,
          added.length > 0 && `${addedText(added)} until you lift the ban.`,
        ),
      }
    },
    unban: () => ({
      description: 'They can be used again, unless they have expired.',
      confirmLabel: 'Unban Licenses',
    }),
    delete: (rows) => {
      const [used, added] = [usedOf(rows), addedOf(rows)]
      return {
        description: `${rows.length === 1 ? 'The key stops' : 'The keys stop'} working immediately. This action cannot be undone.`,
        confirmLabel: 'Delete Licenses',
        inUse: used.length + added.length,
        loss: sentences(
          used.length > 0 && (
            <>
              {amountOf(used.length, 'is', 'are')} in use{namesOf(used)}. The end users stay in your list, but
              expire immediately and can no longer sign in. Programs that run offline go on until their lease
              or activation file ends.
            </>
          ),
          added.length > 0 && `${addedText(added)}.`,
        ),
      }
    },
  },
  done: {
    extend: () => ({ title: 'Licenses Extended' }),
    ban: (amount, { length }) => ({
      title: 'Licenses Banned',
      description: `Programs that use ${length === 1 ? 'it' : 'them'} are now rejected: ${amount}.`,
    }),
    unban: (amount) => ({ title: 'Licenses Unbanned', description: `${amount} can be used again.` }),
    delete: (amount) => ({ title: 'Licenses Deleted', description: `${amount} permanently deleted.` }),
  },
  more: (rows) => (
    <Menu
      side="top"
      trigger={
        <Button size="sm">
          <Download />
          Export
        </Button>
      }
    >
      <MenuItem onSelect={() => saveLicenses(rows, 'csv')}>Selected as CSV</MenuItem>
      <MenuItem onSelect={() => saveLicenses(rows, 'json')}>Selected as JSON</MenuItem>
    </Menu>
  ),
}

const usedOf = (rows: readonly License[]) => rows.filter(({ used, added }) => used && !added)
const addedOf = (rows: readonly License[]) => rows.filter(({ added }) => added)
/** None if one has no name. */
function usernamesOf(used: License[]): string[] {
  const names = used.flatMap(({ usedBy }) => usedBy?.name ?? [])
  return names.length < used.length ? [] : names
}

function namesOf(used: License[]) {
  const names = usernamesOf(used)
  return (
    names.length > 0 && (
      <>
        {' by '}
        <Names names={names} />
      </>
    )
  )
}

function usersOf(used: License[]) {
  const names = usernamesOf(used)
  if (names.length === 0) return amountOf(used.length, 'end user is', 'end users are')
  return (
    <>
      <Names names={names} /> {names.length === 1 ? 'is' : 'are'}
    </>
  )
}

const addedText = (added: License[]): string =>
  `${amountOf(added.length, 'was', 'were')} added by an upgrade: the end users lose what it added`

function sentences(...parts: (ReactNode | false)[]): ReactNode {
  const said = parts.filter((part) => part !== false)
  if (said.length === 0) return undefined
  return said.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the sentences never change places.
    <Fragment key={at}>
      {at > 0 && ' '}
      {part}
    </Fragment>
  ))
}
