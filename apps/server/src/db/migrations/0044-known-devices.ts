import type { Migration } from '../migrate.ts'

/** Networks and programs that people and resellers have signed in with. */
export const knownDevices: Migration = {
  name: '0044-known-devices',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      `create table known_devices (
        id ${t} primary key,
        account_id ${t} references accounts (id) on delete cascade,
        reseller_id ${t} references resellers (id) on delete cascade,
        network ${t} not null,
        agent ${t} not null,
        used_at bigint not null,
        unique (account_id, network, agent),
        unique (reseller_id, network, agent)
      )`,
    ]
  },
}
