import { readFileSync } from 'node:fs'
import { root, run, stopChildren } from './ensure.mjs'

/** How often the script looks whether npm is still there. */
const watchMs = 100

/**
 * Ends the script and what it started when the npm that started it is gone. npm runs a script through a shell; where
 * that shell stays, a signal to npm ends npm and the shell, and nothing else.
 */
export function endWithNpm() {
  if (!process.env.npm_lifecycle_script?.includes('scripts/start.mjs')) return
  const parent = process.ppid
  const npm = isShellOfNpm(parent) ? parentOf(parent) : undefined
  const watch = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || parentOf(parent) === npm)) return
    clearInterval(watch)
    if (!stopChildren('SIGTERM')) process.exit(1)
  }, watchMs)
  watch.unref()
}

/** Runs the server until it ends; it also ends when this process is killed. */
export const serve = () => run([`${root}/apps/server/src/main.ts`, '--end-with-parent'], { channel: true })

const isShellOfNpm = (pid) => proc(pid, 'cmdline').includes('node scripts/start.mjs')

/** The parent of a process, where the system has /proc. The name in parentheses may hold anything. */
function parentOf(pid) {
  const stat = proc(pid, 'stat')
  return stat === '' ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

function proc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
