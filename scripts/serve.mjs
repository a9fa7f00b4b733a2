import { readFileSync } from 'node:fs'
import { root, run, stopChildren } from './ensure.mjs'

/** How often to check that npm is still running. */
const watchMs = 100

/**
 * Exits, and stops the server, when the npm that started this script exits. npm runs scripts through a shell; if that
 * shell stays, a signal to npm ends only npm and the shell.
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

/** Runs the server until it exits; it also exits when this process is killed. */
export const serve = () => run([`${root}/apps/server/src/main.mjs`, '--end-with-parent'], { channel: true })

const isShellOfNpm = (pid) => proc(pid, 'cmdline').includes('node scripts/start.mjs')

/** The parent of a process, where /proc exists. The name in parentheses may contain anything. */
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
