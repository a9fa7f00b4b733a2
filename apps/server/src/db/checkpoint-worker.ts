import { parentPort, workerData } from 'node:worker_threads'
import { SqliteHandle } from './sqlite-handle.ts'

const { database } = new SqliteHandle(workerData as string, { readOnly: false })

parentPort?.on('message', () => {
  try {
    database.exec('pragma wal_checkpoint(passive)')
  } catch {
    // On a full or failing disk, writes report the same.
  }
  parentPort?.postMessage('copied')
})
