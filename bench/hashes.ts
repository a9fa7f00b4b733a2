import { availableParallelism } from 'node:os'
import { operator } from '../apps/server/src/core/networks/caller.ts'
import { Passwords } from '../apps/server/src/core/passwords/passwords.ts'

// Run as many at once as the thread pool holds, so that no core is idle.
const atWork = Math.max(4, availableParallelism())
const passwords = new Passwords({ atWork, queue: 0 })
const stored = await passwords.hash('correct horse battery staple', operator)
const until = performance.now() + Number(process.argv[2]) * 1000
const started = performance.now()
let done = 0
await Promise.all(
  Array.from({ length: atWork }, async () => {
    while (performance.now() < until) {
      const turn = await passwords.enter(operator)
      await passwords.verify(stored, 'correct horse battery staple', turn).finally(() => turn.end())
      done += 1
    }
  }),
)
process.send?.(done / ((performance.now() - started) / 1000))
