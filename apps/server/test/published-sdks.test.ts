import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { sdkVersion } from '@keyward/contract/sdk-version'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { signed, startStandIn, succeed, user } from '../../../packages/sdk/test/stand-in.ts'
import { csharpFlags, findLanguage, hasHeader } from '../../../sdks/conformance/languages.ts'
import { isFull, someOf } from './rounds.ts'

const releases = fileURLToPath(new URL('../../../sdks/releases', import.meta.url))
const script = fileURLToPath(new URL('../../../scripts/published.mjs', import.meta.url))
const file = '1.2.1/keyward.hpp'
const wheel: string = '../../../scripts/wheel.mjs'
const { unzip, zip } = await import(wheel)

let folder: string
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' })
const commit = () => {
  git('add', '-A')
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'Release')
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyward-published-'))
  cpSync(releases, folder, { recursive: true })
  git('init', '-q')
  commit()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function check(): { status: number | null; faults: string } {
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { status, faults: stderr }
}

/** Changes the released header, or removes it, and returns what it was. */
function change(to?: (before: Buffer) => Buffer): Buffer {
  const archive = join(folder, '1.2.1.zip')
  const { 'keyward.hpp': before, ...others } = unzip(readFileSync(archive))
  writeFileSync(archive, zip(Object.entries({ ...others, ...(to && { 'keyward.hpp': to(before) }) })))
  return before
}
const longer = (before: Buffer) => Buffer.concat([before, Buffer.from('\n')])

/** Replaces a digest in both lists, as a second release of the same version would. */
function republish() {
  const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  const bytes = change(longer)
  const [before, after] = [digestOf(bytes), digestOf(longer(bytes))]
  for (const name of ['SHA256SUMS', 'index.json']) {
    const path = join(folder, name)
    writeFileSync(path, readFileSync(path, 'utf8').replace(before, after))
  }
}

/** A server with answers that older SDKs do not know. */
async function startNewer() {
  const server = await startStandIn()
  const links = { buy: null, renew: 'https://shop.example', upgrades: [] }
  const advisory = { version: '1.2.1', severity: 'high', summary: 'A hole', url: null }
  server.on('license', succeed({ user: { ...user, links, of: 'the future' } }))
  server.on('session', (seen) =>
    signed(seen, 403, {
      ...{ success: false, code: 'versionTooOld', message: 'Too old', later: [1] },
      details: { expiresAt: null, links, advisory, release: { version: '1.2.1', url: null } },
    }),
  )
  return server
}
const published = readdirSync(releases).flatMap((name) => /^(.+)\.zip$/.exec(name)?.[1] ?? [])
const older = published.filter((version) => version !== sdkVersion)
/** 1.1.0 was for TypeScript alone. */
const olderInAll = older.filter((version) => version !== '1.1.0')
const filesOf = (version: string): Record<string, Buffer> =>
  unzip(readFileSync(join(releases, `${version}.zip`)))

test('programs with older SDKs take versionTooOld for a rejection, and pass over what they do not know', async () => {
  const server = await startNewer()
  try {
    expect(older.length).toBeGreaterThan(5)
    for (const version of older) {
      const own = join(folder, version)
      mkdirSync(own)
      writeFileSync(join(own, 'sdk.tgz'), filesOf(version)[`keyward-sdk-${version}.tgz`] as Buffer)
      execFileSync('tar', ['-xzf', 'sdk.tgz'], { cwd: own })
      const { Keyward } = (await import(
        pathToFileURL(join(own, 'package/dist/node.js')).href
      )) as typeof import('../../../packages/sdk/src/index.ts')
      const { baseUrl, publicKeys } = server
      const app = { baseUrl, publicKeys, appId: 'app12345', secret: 's', version: '1.0.0', hwid: 'a' }
      const keyward = new Keyward(app)
      expect(await keyward.license('KEY'), version).toMatchObject({
        ok: true,
        user: { username: user.username },
      })
      const refused = { ok: false, code: 'versionTooOld', message: 'Too old' }
      expect(await keyward.session(), version).toMatchObject(refused)
    }
  } finally {
    await server.close()
  }
})

const { missing, command } = findLanguage('python')
test.skipIf(missing)('programs with older SDKs for Python take versionTooOld for a rejection', async () => {
  const server = await startNewer()
  const program = `
import json, sys
wheel, base_url, keys = sys.argv[1:]
sys.path.insert(0, wheel)
from keyward import Keyward
app = {"app_id": "app12345", "secret": "s", "version": "1.0.0", "hwid": "a"}
keyward = Keyward(base_url=base_url, public_keys=json.loads(keys), **app)
signed_in, checked = keyward.license("KEY"), keyward.session()
print(signed_in.ok, signed_in.user.username, checked.ok, checked.code, checked.message)
`
  try {
    const [python = ''] = await command()
    for (const version of someOf(olderInAll, 10)) {
      const wheel = join(folder, `keyward-${version}-py3-none-any.whl`)
      writeFileSync(wheel, filesOf(version)[`keyward-${version}-py3-none-any.whl`] as Buffer)
      const args = [wheel, server.baseUrl, JSON.stringify(server.publicKeys)]
      const { stdout } = await promisify(execFile)(python, ['-c', program, ...args])
      expect(stdout.trim(), version).toBe(`True ${user.username} False versionTooOld Too old`)
    }
  } finally {
    await server.close()
  }
})

const cppProgram = `
#include <iostream>
#include "keyward.hpp"
int main(int, char **argv) {
  keyward::Options options;
  options.baseUrl = argv[1];
  options.publicKeys = argv[2];
  options.appId = "app12345";
  options.secret = "s";
  options.version = "1.0.0";
  options.hwid = "a";
  keyward::Client keyward(options);
  const auto signedIn = keyward.license("KEY");
  const auto checked = keyward.session();
  std::cout << signedIn.ok << ' ' << signedIn.user.username << ' ' << checked.ok << ' ' << checked.code << ' ' << checked.message;
}
`

const csharpProgram = `
using System;
using Keyward;
static class Program
{
    static void Main(string[] args)
    {
        var keyward = new KeywardClient(new KeywardOptions
        {
            BaseUrl = args[0], PublicKeys = args[1], AppId = "app12345", Secret = "s", Version = "1.0.0", Hwid = "a",
        });
        var signedIn = keyward.LicenseAsync("KEY").GetAwaiter().GetResult();
        var check = keyward.SessionAsync().GetAwaiter().GetResult();
        Console.Write("{0} {1} {2} {3} {4}", signedIn.Ok, signedIn.User.Username, check.Ok, check.Code, check.Message);
    }
}
`

const compiled = {
  cpp: {
    ...{ name: 'C++', sdk: 'keyward.hpp', file: 'main.cpp', program: cppProgram, run: ['./program'] },
    compile: ['g++', '-std=c++17', '-O0', 'main.cpp', '-o', 'program', '-lcurl', '-lsodium', '-pthread'],
    printed: `1 ${user.username} 0 versionTooOld Too old`,
    // Each takes half a minute to compile, and the oldest ones need libsodium.
    isTried: isFull && hasHeader('sodium.h'),
  },
  csharp: {
    ...{
      name: 'C#',
      sdk: 'Keyward.cs',
      file: 'Program.cs',
      program: csharpProgram,
      run: ['mono', 'program.exe'],
    },
    compile: ['mcs', ...csharpFlags, '-out:program.exe', 'Program.cs', 'Keyward.cs'],
    printed: `True ${user.username} False versionTooOld Too old`,
    isTried: true,
  },
}

for (const language of ['cpp', 'csharp'] as const) {
  const { name, sdk, file, program, compile, run, printed, isTried } = compiled[language]
  test.skipIf(!isTried || findLanguage(language).missing)(
    `programs with older SDKs for ${name} take versionTooOld for a rejection`,
    async () => {
      const server = await startNewer()
      const execute = async ([command = '', ...args]: string[], cwd: string) =>
        (await promisify(execFile)(command, args, { cwd, env: { ...process.env, HOME: cwd } })).stdout
      try {
        for (const version of someOf(olderInAll, 10)) {
          const own = join(folder, `${language}-${version}`)
          mkdirSync(own)
          writeFileSync(join(own, sdk), filesOf(version)[sdk] as Buffer)
          writeFileSync(join(own, file), program)
          await execute(compile, own)
          const args = [server.baseUrl, JSON.stringify(server.publicKeys)]
          expect(await execute([...run, ...args], own), version).toBe(printed)
        }
      } finally {
        await server.close()
      }
    },
    900_000,
  )
}

test('the check accepts the published SDKs as they are', () => {
  expect(check()).toEqual({ status: 0, faults: '' })
})

test('the check refuses a published file with other bytes, and a missing one', () => {
  change(longer)
  expect(check()).toMatchObject({
    status: 1,
    faults: expect.stringContaining(`${file} is not the published`),
  })
  change()
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining(`${file} is missing`) })
})

test('the check refuses a version that is published a second time, also after the commit', () => {
  republish()
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining('lost or changed the line') })
  commit()
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining('lost or changed the line') })
})

test('the check refuses a file of the index that the list of digests does not name', () => {
  const list = join(folder, 'SHA256SUMS')
  writeFileSync(list, readFileSync(list, 'utf8').replace(/^.*1\.1\.0.*\n/m, ''))
  expect(check()).toMatchObject({ status: 1, faults: expect.stringContaining('index.json and SHA256SUMS') })
})
