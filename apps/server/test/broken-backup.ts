// A process for scheduled backups that damages what it has written, while there is a file `break` beside the folder.
import { closeSync, existsSync, openSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type BackupOrder, makeVerifiedBackup } from '../src/db/sqlite/backup/verified.ts'

process.once('message', async (order: BackupOrder) => {
  const result = await makeVerifiedBackup(
    order,
    () => true,
    (archive) => {
      if (!existsSync(join(dirname(order.directory), 'break'))) return
      const file = openSync(archive, 'r+')
      writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, statSync(archive).size >> 1)
      closeSync(file)
    },
  )
  process.send?.(result, () => process.disconnect?.())
})
