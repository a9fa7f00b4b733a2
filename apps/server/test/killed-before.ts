const counting = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { StatementSync } from 'node:sqlite'
let left = Number(process.env.KILLED_BEFORE)
const step = () => {
  left -= 1
  if (left === 0) process.kill(process.pid, 'SIGKILL')
}
for (const name of ['linkSync', 'renameSync', 'utimesSync']) {
  const real = fs[name]
  fs[name] = (...args) => {
    step()
    return real(...args)
  }
}
syncBuiltinESMExports()
const { run } = StatementSync.prototype
StatementSync.prototype.run = function (...values) {
  if (this.sourceSQL === 'commit') step()
  return run.apply(this, values)
}`

/**
 * The environment of a command that kills itself (`kill -9`) right before its nth lasting change: a commit of the embedded
 * database, or a file that gets its name.
 */
export const killedBefore = (step: number): Record<string, string> => ({
  KILLED_BEFORE: String(step),
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(counting)}`,
})
