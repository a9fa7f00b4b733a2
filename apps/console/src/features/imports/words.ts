import type { Import, ImportField, ImportOutcome, ImportPreset } from '@keyward/contract'
import type { Tone } from '../../ui/badge.tsx'

interface System {
  label: string
  /** Which files to choose. */
  files: string
}

export const systems: Record<ImportPreset, System> = {
  keyward: {
    label: 'Keyward (CSV)',
    files:
      'Choose an export of licenses, or a CSV file of your own. Its first line names the columns: expiresAt (2030-12-31), duration (30 days, from first use) or type, and if you like key, note and others of an export. A line without a key gets a random one.',
  },
  keyauth: {
    label: 'KeyAuth',
    files:
      'Choose the exports of users and of licenses together, and answers of the seller API if you have them. Without users, no one can tell which keys are used.',
  },
  keygen: { label: 'Keygen', files: 'Choose the saved pages of licenses, machines and users.' },
  cryptlex: { label: 'Cryptlex', files: 'Choose the saved lists of licenses, as JSON.' },
  lukittu: { label: 'Lukittu', files: 'Choose the saved lists of licenses, as JSON.' },
  licensegate: { label: 'LicenseGate', files: 'Choose the saved lists of licenses, as JSON.' },
  licensespring: { label: 'LicenseSpring', files: 'Choose the CSV files that its console downloads.' },
  table: { label: 'Any CSV or JSON list', files: 'Choose a file, then say what its columns mean.' },
}

/** The systems whose files have columns to map. */
export const hasColumns = (preset: string): boolean => preset === 'table' || preset === 'licensespring'

export const fieldLabels: Record<ImportField, string> = {
  key: 'License key',
  type: 'License type',
  status: 'Status',
  banReason: 'Reason of the ban',
  duration: 'Duration in days',
  endsAt: 'Expires at',
  note: 'Note',
  usedBy: 'Used by',
  devicesMax: 'Number of devices',
  device: 'Hardware id',
  reference: 'Order or reference',
  username: 'Username',
  password: 'Password (bcrypt)',
  email: 'Email address',
}

export const stateFacts: Record<Import['state'], { label: string; tone: Tone }> = {
  waiting: { label: 'Not checked', tone: 'neutral' },
  checking: { label: 'Checking', tone: 'accent' },
  checked: { label: 'Checked', tone: 'warning' },
  running: { label: 'Importing', tone: 'accent' },
  done: { label: 'Imported', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
  undoing: { label: 'Undoing', tone: 'accent' },
  undone: { label: 'Undone', tone: 'neutral' },
}

export const isWorking = ({ state }: Pick<Import, 'state'>): boolean =>
  state === 'checking' || state === 'running' || state === 'undoing'

/** What became of a row; after a check, what would. */
export const outcomeFacts: Record<ImportOutcome, { label: string; expected: string; tone: Tone }> = {
  created: { label: 'Created', expected: 'Will be created', tone: 'success' },
  skipped: { label: 'Skipped', expected: 'Left out', tone: 'neutral' },
  failed: { label: 'Failed', expected: 'Problem', tone: 'danger' },
  undone: { label: 'Removed', expected: 'Removed', tone: 'neutral' },
  kept: { label: 'Kept', expected: 'Kept', tone: 'warning' },
}
export const outcomes = Object.keys(outcomeFacts) as ImportOutcome[]
