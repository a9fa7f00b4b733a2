// Runs commands of the command line one after the other in one process, each until nothing is left to do in it.
import '../src/keep-compiled.mjs'

const compiled = process.env.NODE_COMPILE_CACHE
const write = {}
const output = { stdout: '', stderr: '' }
for (const name of ['stdout', 'stderr']) {
  write[name] = process[name].write.bind(process[name])
  process[name].write = (text) => {
    output[name] += text
    return true
  }
}

let count = 0
let isRunning = false
process.on('message', async ({ args, environment }) => {
  isRunning = true
  output.stdout = ''
  output.stderr = ''
  process.exitCode = 0
  process.argv.splice(2, Infinity, ...args)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, { NODE_COMPILE_CACHE: compiled }, environment)
  // A command ends like its process: when only this channel would keep it alive.
  process.channel.unref()
  await import(`../src/cli.ts?${count++}`)
})
process.on('beforeExit', (code) => {
  if (!isRunning || !process.connected) return
  isRunning = false
  process.channel.ref()
  process.send({ code, ...output })
})
process.on('disconnect', () => process.exit())
