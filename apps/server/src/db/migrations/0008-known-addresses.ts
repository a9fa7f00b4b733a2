import type { Migration } from '../migrate.ts'

/** Addresses from which an account has signed in; both stored as keyed hashes. */
export const knownAddresses: Migration = {
  name: '0008-known-addresses',
  statements: (dialect) => {
    const text = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table known_addresses (
        account ${text} not null,
        address ${text} not null,
        expires_at bigint not null,
        primary key (account, address)
      )`,
      'create index known_addresses_expiry on known_addresses (expires_at)',
    ]
  },
}
