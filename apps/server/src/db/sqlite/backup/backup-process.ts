// ADR 98: scheduled backups run in a process of their own.
import { getPriority, setPriority } from 'node:os'
import { type BackupOrder, makeVerifiedBackup } from './verified.ts'

const lowPriority = 15

try {
  setPriority(Math.max(getPriority(), lowPriority))
} catch {
  // A system may forbid that.
}
// A signal to the process group is meant for the server, which ends this process.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

process.once('message', async (order: BackupOrder) => {
  const result = await makeVerifiedBackup(order, () => process.connected)
  if (process.connected) process.send?.(result, () => process.disconnect?.())
})
