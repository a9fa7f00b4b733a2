import type { Migration } from '../migrate.ts'

/** Why the server paused a webhook. Those that it paused before do not say. */
export const webhookPauses: Migration = {
  name: '0062-webhook-pauses',
  statements: (dialect) => [
    `alter table webhooks add column pause_reason ${dialect === 'postgres' ? 'text collate "C"' : 'text'}`,
  ],
}
