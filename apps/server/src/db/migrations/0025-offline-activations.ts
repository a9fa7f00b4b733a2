import type { Migration } from '../migrate.ts'

/** Machines that are never online and run with a file. A device that is freed leaves its activation behind. */
export const offlineActivations: Migration = {
  name: '0025-offline-activations',
  statements: (dialect) => {
    const t = dialect === 'postgres' ? 'text collate "C"' : 'text'
    return [
      'alter table clients add column activation_until bigint',
      `create table offline_activations (
        id ${t} primary key,
        owner_id ${t} not null,
        app_id ${t} not null references apps (id) on delete cascade,
        client_id ${t} not null references clients (id) on delete cascade,
        license_id ${t} references licenses (id) on delete set null,
        device_id ${t} references devices (id) on delete set null,
        hwid_hash ${t} not null,
        request_hash ${t} not null,
        code_hash ${t} not null,
        until bigint not null,
        created_at bigint not null,
        issued_at bigint not null,
        ended_at bigint,
        ended_by ${t} check (ended_by in ('code', 'replaced'))
      )`,
      'create unique index offline_activations_request on offline_activations (app_id, request_hash)',
      'create unique index offline_activations_code on offline_activations (app_id, code_hash)',
      'create index offline_activations_app on offline_activations (app_id, created_at, id)',
      'create index offline_activations_client on offline_activations (client_id, created_at, id)',
      'create index offline_activations_device on offline_activations (device_id)',
      'create index offline_activations_license on offline_activations (license_id)',
    ]
  },
}
