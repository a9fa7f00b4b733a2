import { setImmediate as nextTurn } from 'node:timers/promises'
import { hashSync } from '@node-rs/argon2'
import { compareHash } from '../src/core/passwords/compare-hash.ts'
import { HashThreads } from '../src/core/passwords/hash-threads.ts'
import { isImportedHash } from '../src/core/passwords/imported-hashes.ts'
import { Passwords } from '../src/core/passwords/passwords.ts'

const weakest = { memoryCost: 8, timeCost: 1, parallelism: 1 }

/** Hashes at the lowest cost on this thread, but not at once, so that other requests run in between. */
class QuickHashes extends HashThreads {
  override async hash(password: string): Promise<string> {
    await nextTurn()
    return hashSync(password, weakest)
  }

  override async verify(...compared: Parameters<typeof compareHash>): Promise<boolean> {
    await nextTurn()
    return compareHash(...compared)
  }
}

/** Passwords for tests of something else: real hashes with a cost of microseconds. */
export class QuickPasswords extends Passwords {
  constructor() {
    super({ threads: new QuickHashes(), refusalMs: 0 })
  }

  override isOutdated(stored: string): boolean {
    return isImportedHash(stored)
  }
}
