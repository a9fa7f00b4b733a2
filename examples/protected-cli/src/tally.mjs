#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { KeywardNetworkError, KeywardSignatureError, KeywardUsageError } from '@keyward/sdk'
import { SetupError } from './config.mjs'
import { activate, deactivate, downloadUpdate, forget, makeRequest, openGate, RefusedError } from './gate.mjs'
import { nextNetworkStep, time } from './next-step.mjs'
import { count, toTable } from './report.mjs'

const usage = `Usage: tally [--key KEY] [--watch] FILE...
       tally --forget | --update FOLDER
       tally --offline-request KEY | --activate FILE | --deactivate

Counts the words and the reading time of your texts.

  --key KEY   activate with this license key; it is remembered
  --watch     count again whenever a file changes
  --forget    forget the license key
  --update    download the newest version into the folder, and start it

Without a connection to the license server:

  --offline-request KEY  print the request that you send to the vendor
  --activate FILE        open the file that the vendor sent you
  --deactivate           end it, and print the code for the vendor`

async function main() {
  const yes = { type: 'boolean' }
  const options = {
    key: { type: 'string' },
    watch: yes,
    forget: yes,
    update: { type: 'string' },
    'offline-request': { type: 'string' },
    activate: { type: 'string' },
    deactivate: yes,
  }
  const { values, positionals: files } = parseArgs({ options, allowPositionals: true })
  if (values.forget) return forget()
  if (values.update !== undefined) return update(values.update, files)
  if (values['offline-request']) return console.log(await makeRequest(values['offline-request']))
  if (values.deactivate) return console.log(`Deactivated. Code for the vendor: ${await deactivate()}`)
  if (values.activate !== undefined) return activateFrom(values.activate)
  if (files.length === 0) throw new SetupError(usage)

  const gate = await openGate(values.key)
  console.log(toActivated(gate.expiresAt))
  if (gate.offline)
    console.log(
      `The license server was not asked: this machine has its signed permission${until(gate.offline)}.`,
    )
  if (gate.offline?.inGrace) console.log('Go online before then, or Tally stops.')
  if (!gate.isRemembered) console.error('The key could not be stored: the next start needs --key again.')
  if (gate.newVersion) console.log(`Version ${gate.newVersion} is available.`)

  await tally(gate, files)
  // No logout: it would forget the lease, and Tally could not start offline.
  if (values.watch) watchFiles(gate, files)
}

/** The new version takes over, with the same files. What the SDK stores is of the user, so it stays signed in. */
async function update(folder, files) {
  const path = await downloadUpdate(folder)
  if (!path) return console.log('This is the newest version.')
  spawn(process.execPath, [path, ...files], { stdio: 'inherit' }).on('exit', (status) =>
    process.exit(status ?? 1),
  )
}

async function activateFrom(path) {
  console.log(toActivated(await activate(await read(path))))
}

const read = (path) =>
  readFile(path, 'utf8').catch(() => {
    throw new SetupError(`${path} cannot be read.`)
  })

const toActivated = (end) => (end ? `Activated until ${time(end)}.` : 'Activated.')
const until = ({ graceUntil }) => (graceUntil ? ` until ${time(graceUntil)}` : '')

/** One piece of work. Check first: without it, a watching program would not notice a ban. */
async function tally(gate, files) {
  await gate.check()
  const rows = await Promise.all(
    files.map(async (path) => ({ name: basename(path), ...count(await read(path)) })),
  )
  console.log(`\n${toTable(rows)}`)
}

function watchFiles(gate, files) {
  let timer
  let work = Promise.resolve()
  const again = () => {
    work = work
      .then(() => tally(gate, files))
      .catch((error) => {
        if (error instanceof RefusedError || error instanceof KeywardSignatureError) stop(error)
        // A missing answer is no verdict: skip this piece of work and check again at the next one.
        console.error(`Skipped: ${error.message} ${nextNetworkStep(error)}`)
      })
  }
  for (const directory of new Set(files.map((path) => dirname(path)))) {
    watch(directory, (_, name) => {
      if (!files.some((path) => dirname(path) === directory && basename(path) === name)) return
      clearTimeout(timer)
      timer = setTimeout(again, 100)
    })
  }
  console.log('\nWatching for changes. Press Ctrl-C to stop.')
}

/** Prints the error for the user and sets the exit status for scripts. */
function stop(error) {
  const statuses = [
    [SetupError, 1],
    [KeywardUsageError, 1],
    [KeywardNetworkError, 2],
    [RefusedError, 3],
    [KeywardSignatureError, 4],
  ]
  const status = statuses.find(([type]) => error instanceof type)?.[1] ?? 1
  if (status === 2) console.error(`The license server cannot be reached. ${nextNetworkStep(error)}`)
  if (status === 4) console.error('The response is not from the license server. Tally stops.')
  console.error(error.message)
  process.exit(status)
}

main().catch(stop)
