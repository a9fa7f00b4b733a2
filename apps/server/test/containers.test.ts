import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig, variableNames } from '../src/config.ts'
import { fileVariables } from '../src/config-files.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const dockerfile = readFileSync(join(root, 'deploy/docker/Dockerfile'), 'utf8')
const image = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
/** Read by the runtime and not by Keyward. */
const ofRuntime = 'NODE_COMPILE_CACHE'
const imageSettings = Object.fromEntries(
  (/^ENV (.*)$/m.exec(image)?.[1] ?? '').split(' ').map((setting) => setting.split('=') as [string, string]),
)

interface Service {
  image: string
  build?: { context: string; dockerfile: string }
  ports?: string[]
  environment: Record<string, string>
  volumes?: string[]
  tmpfs?: string[]
  secrets?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  stop_grace_period: string
}
interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
  secrets?: Record<string, { file: string }>
}
const composeOf = (name: string): Compose =>
  parse(readFileSync(join(root, 'deploy/docker', name), 'utf8'), { strict: true })

/** Puts values into `${NAME:?why}`, as compose does. */
const filled = (environment: Record<string, string>, values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+):\?[^}]+\}/g, (_, wanted: string) => values[wanted] ?? ''),
    ]),
  )

describe('the image', () => {
  test('runs as a user without privileges, who owns nothing but its volumes', () => {
    expect(image).toMatch(/^USER 10001:10001$/m)
    expect(image).toContain('install -d -o keyward -g keyward -m 700 /var/lib/keyward /var/backups/keyward')
    expect(image).toMatch(/^VOLUME \["\/var\/lib\/keyward", "\/var\/backups\/keyward"\]$/m)
    expect(image).toMatch(/^COPY --from=build \/keyward \/usr\/lib\/keyward$/m)
  })

  test('has valid settings, and is no development instance', () => {
    const { [ofRuntime]: cache, ...settings } = imageSettings
    expect(cache).toBe('/tmp/keyward')
    expect(Object.keys(settings).filter((name) => !variableNames.includes(name))).toEqual([])
    const config = readConfig({ ...settings, PUBLIC_URL: 'https://keys.example.com' })
    expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, dataDir: '/var/lib/keyward' })
    expect(() => readConfig({ ...settings, PAYMENTS: 'mock' })).toThrow(/PAYMENTS/)
  })

  test('starts and checks files that exist', () => {
    expect(image).toContain('ENTRYPOINT ["/usr/lib/keyward/bin/keyward"]\nCMD ["start"]')
    const [, health = ''] = /HEALTHCHECK.*\\\n.*"\/usr\/lib\/keyward\/(deploy[^"]+)"\]$/m.exec(image) ?? []
    expect(existsSync(join(root, health))).toBe(true)
    expect(dockerfile).toContain('RUN node scripts/package.mjs --folder /keyward')
  })
})

describe.each(['compose.yaml', 'compose.postgres.yaml'])('%s', (name) => {
  const { services, volumes, secrets = {} } = composeOf(name)
  const keyward = services.keyward!

  test('sets only variables of Keyward, with values that it accepts', () => {
    expect(Object.keys(keyward.environment).filter((each) => !variableNames.includes(each))).toEqual([])
    const environment = filled(keyward.environment, { PUBLIC_URL: 'https://keys.example.com' })
    const contents: Record<string, string> = {
      DATABASE_URL: 'postgres://keyward:password@postgres/keyward',
      SECRET_KEY: 'k'.repeat(64),
    }
    const values = Object.entries({ ...imageSettings, ...environment }).map(([each, value]) => {
      if (!fileVariables.includes(each)) return [each, value]
      expect(value).toMatch(/^\/run\/secrets\//)
      return [each.replace(/_FILE$/, ''), contents[each.replace(/_FILE$/, '')]]
    })
    const config = readConfig(Object.fromEntries(values))
    expect(config).toMatchObject({ trustProxy: 1, publicUrl: 'https://keys.example.com' })
  })

  test('runs it read-only and without capabilities, behind a proxy of this machine', () => {
    expect(keyward).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      stop_grace_period: '30s',
      ports: ['127.0.0.1:3000:3000'],
    })
    expect(keyward.tmpfs).toContain('/tmp:mode=1777')
    const { context = '', dockerfile: file = '' } = keyward.build ?? {}
    expect(existsSync(join(root, 'deploy/docker', context, file))).toBe(true)
  })

  test('defines each volume and secret that it uses, and no other', () => {
    const all = Object.values(services)
    const used = all.flatMap((one) => one.volumes ?? []).map((volume) => volume.split(':')[0])
    expect(Object.keys(volumes).sort()).toEqual(used.sort())
    expect(Object.keys(secrets).sort()).toEqual(all.flatMap((one) => one.secrets ?? []).sort())
    const named = all
      .flatMap(({ environment }) => Object.values(environment))
      .flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? [])
    expect(named.sort()).toEqual(Object.keys(secrets).sort())
    // The data of both databases outlives its container.
    const data = name === 'compose.yaml' ? '/var/lib/keyward' : '/var/lib/postgresql/data'
    expect(all.flatMap((one) => one.volumes ?? []).map((volume) => volume.split(':')[1])).toContain(data)
  })
})
