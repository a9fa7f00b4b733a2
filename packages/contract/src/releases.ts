import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { idParams, instant, isoTime, none, seenValues, text, version } from './shared.ts'
import { webLink } from './web-link.ts'

/** A short text of some characters. */
const word = (max: number, pattern: RegExp, message: string) =>
  z.string().min(1, message).max(max, message).regex(pattern, message)

export const channel = word(20, /^[a-z0-9-]*$/, 'A channel has 1 to 20 of the characters a-z, 0-9 and -')

/** Text of several lines; no other control characters, no lone surrogates. */
const notes = z
  .string()
  .max(limits.releaseNotesMax, `Notes can have at most ${limits.releaseNotesMax} characters`)
  .refine(
    (value) => !/(?![\n\r\t])\p{Cc}|\p{Cs}/u.test(value),
    'Notes contain characters that are not allowed',
  )
  .describe('Markdown')

const build = word(
  32,
  /^[0-9A-Za-z.+-]*$/,
  'A build has 1 to 32 of the characters 0-9, A-Z, a-z, . + and -',
).describe("`sparkle:version` of Sparkle's appcast")

const range = z.strictObject({
  from: version.nullable().default(null).describe('the oldest affected version; null for all older ones'),
  before: version
    .nullable()
    .default(null)
    .describe('the first version that is not affected; null for all newer ones'),
})

const inOrder = (from: string | null, before: string | null): boolean =>
  from === null || before === null || from.localeCompare(before, 'en-US', { numeric: true }) < 0

export const security = z.strictObject({
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  affects: z
    .array(range.refine(({ from, before }) => inOrder(from, before), '`from` must be older than `before`'))
    .max(limits.affectedRangesMax, `At most ${limits.affectedRangesMax} ranges of versions`),
  summary: text(1, 500, 'Summary'),
  advisory: webLink.nullable().default(null).describe('a page about the vulnerability'),
})

const kindOf = (what: string) =>
  word(32, /^[0-9A-Za-z._-]*$/, `${what} has 1 to 32 of the characters 0-9, A-Z, a-z, . _ and -`)
const digest = (digits: number) => {
  const message = `Must be ${digits} digits of 0-9 and a-f`
  return word(digits, new RegExp(`^[0-9a-f]{${digits}}$`), message)
}

/** A name that no file system takes for a path. */
const fileName = text(1, 200, 'Name').refine(
  (name) => !/[\\/<>:"|?*\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^\.+$|\.$/u.test(name),
  'Must be the name of a file, without its folder',
)

export const artifact = z.strictObject({
  platform: kindOf('A platform').describe('such as `windows`, `macos` or `linux`'),
  architecture: kindOf('An architecture').describe('such as `x64`, `arm64` or `universal`'),
  kind: kindOf('A kind').describe('such as `installer`, `archive`, `full` or `delta`'),
  name: fileName,
  url: webLink,
  size: z.int().min(1).describe('bytes'),
  sha512: digest(128),
  sha256: digest(64).optional(),
  sha1: digest(40).optional(),
  signature: word(2000, /^[\x21-\x7e]*$/, 'A signature has 1 to 2000 characters without spaces')
    .optional()
    .describe("the vendor's own, as its updater reads it"),
})

const place = ({ platform, architecture, kind, name }: z.output<typeof artifact>) =>
  `${platform}/${architecture}/${kind}/${name}`.toLowerCase()

const artifacts = z
  .array(artifact)
  .max(limits.artifactsMax, `A release can have at most ${limits.artifactsMax} artifacts`)
  .refine(
    (all) => new Set(all.map(place)).size === all.length,
    'Each artifact needs its own platform, architecture, kind or name',
  )

/** What `releases:write` alone can set. */
const further = {
  channel,
  notes: notes.nullable(),
  updatesFrom: version.nullable().describe('the oldest version that may update to it; null for all'),
  build: build.nullable(),
  security: security.nullable(),
  artifacts,
}
const fields = { version, releasedAt: instant, link: webLink.nullable(), ...further }

export const fieldsOfRelease = {
  version: z.string(),
  releasedAt: isoTime,
  link: z.string().nullable(),
  channel: z.string(),
  notes: z.string().nullable(),
  updatesFrom: z.string().nullable(),
  build: z.string().nullable(),
  security: security.nullable(),
  artifacts: z.array(artifact),
}
const release = z.strictObject({
  _id: z.string(),
  ...fieldsOfRelease,
  withdrawnAt: isoTime.nullable(),
  createdAt: isoTime,
})
const oneRelease = z.strictObject({ release })

const tag = 'Releases'
const bodyLimit = 524_288

export const releases = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/releases',
    access: 'owner',
    permission: { anyOf: ['releases:read', 'releases:write', 'apps:read'] },
    tag,
    summary: `List the released versions of an app, newest first, at most ${limits.releasesMax}`,
    params: idParams,
    data: z.strictObject({ releases: z.array(release) }),
  }),
  add: endpoint({
    method: 'POST',
    path: '/apps/:id/releases',
    access: 'owner',
    permission: { anyOf: ['releases:write', 'apps:write'] },
    also: [
      {
        when: 'a field besides `version`, `releasedAt` and `link`',
        fields: Object.keys(further),
        permission: ['releases:write'],
      },
    ],
    bodyLimit,
    tag,
    summary:
      'Add a released version. If it is out and `stable`, it becomes the version of the app if it is newer; licenses with an end of updates cover it only if it was released before, or has `security`',
    params: idParams,
    body: z.strictObject(fields).partial().required({ version: true, releasedAt: true }),
    data: oneRelease,
    status: 201,
    errors: ['release_exists', 'releases_full', 'releases_too_large', 'security_kept'],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/releases/:id',
    access: 'owner',
    permission: 'releases:write',
    bodyLimit: 2 * bodyLimit,
    valuesMax: 2 * limits.bodyValuesMax,
    tag,
    summary:
      'Change a release; omitted fields stay unchanged. `security` of one that is out can be changed, not removed',
    params: idParams,
    body: z
      .strictObject(fields)
      .partial()
      .extend({ seen: seenValues(fields) }),
    data: oneRelease,
    errors: ['release_changed', 'release_exists', 'releases_too_large', 'security_kept'],
  }),
  withdraw: endpoint({
    method: 'POST',
    path: '/releases/:id/withdraw',
    access: 'owner',
    permission: 'releases:write',
    tag,
    summary:
      'Withdraw a release for good: no program is offered it any more, and who has it keeps it. If it is the version of the app, the newest older one that is out and `stable` becomes that',
    params: idParams,
    data: oneRelease,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/releases/:id',
    access: 'owner',
    permission: { anyOf: ['releases:write', 'apps:write'] },
    tag,
    summary: 'Remove a released version; every license then covers it',
    params: idParams,
    data: none,
  }),
}

export type Release = z.output<typeof release>
export type Artifact = z.output<typeof artifact>
export type SecurityFix = z.output<typeof security>
