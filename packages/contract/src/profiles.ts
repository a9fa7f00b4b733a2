import { z } from 'zod'
import { toPlainText } from './app-mail-text.ts'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { imageOf } from './images.ts'
import { email, idParams, text } from './shared.ts'
import { webLink } from './web-link.ts'

/** A mail program shows it as the sender, where an address would hide the real one. */
const name = text(1, 64, 'Name').refine(
  (value) => !/[<>"@]/.test(value) && toPlainText(value) === value.replace(/\s+/g, ' '),
  'Name contains characters that are not allowed',
)

const support = z
  .string()
  .trim()
  .max(500, 'Help can have at most 500 characters')
  .refine(
    (value) => email.safeParse(value).success || webLink.safeParse(value).success,
    'Please enter an email address, or a web address that starts with https://',
  )
  .overwrite((value) => email.safeParse(value).data ?? value)

const dataUrl = /^data:image\/(?:png|jpeg);base64,/
const base64 = /^[A-Za-z0-9+/]+={0,2}$/
const logoMax = Math.ceil((limits.logoBytesMax * 4) / 3) + 40

/** The bytes of a logo, as base64. */
export const logoBytes = (logo: string): string => logo.replace(dataUrl, '')

function logoIssue(value: string): string | undefined {
  const encoded = logoBytes(value)
  if (!base64.test(encoded) || encoded.length % 4 !== 0) return 'The logo must be base64'
  const bytes = atob(encoded)
  const image = imageOf(bytes)
  if (!image) return 'The logo must be a PNG or a JPEG'
  if (bytes.length > limits.logoBytesMax) return 'The logo can have at most 200 kB'
  const isSized = [image.width, image.height].every((side) => side >= 1 && side <= limits.logoSideMax)
  return isSized ? undefined : `The logo can have at most ${limits.logoSideMax} pixels on a side`
}

const logo = z
  .string()
  .max(logoMax, 'The logo can have at most 200 kB')
  .check((context) => {
    const message = logoIssue(context.value)
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value })
  })

const profile = z.strictObject({
  name: z.string().nullable().describe('the business as customers read it'),
  logo: z.string().nullable().describe('a PNG or JPEG as a `data:` address'),
  support: z.string().nullable().describe('where customers get help: an email address or an https link'),
})

const change = z
  .strictObject({
    name: name.nullable(),
    logo: logo
      .nullable()
      .describe(
        `the bytes of a PNG or JPEG as base64, or as a \`data:\` address, ${limits.logoBytesMax} bytes and ${limits.logoSideMax} pixels on a side at most`,
      ),
    support: support.nullable(),
  })
  .partial()
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'Nothing to change')

const bodyLimit = 327_680
const tag = 'Profile'

export const profiles = {
  get: endpoint({
    method: 'GET',
    path: '/profile',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary:
      'Get what customers and resellers see of the vendor, in mails, on the pages of apps and in the portal',
    data: profile,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/profile',
    access: 'owner',
    permission: 'apps:write',
    allApps: true,
    tag,
    summary: 'Change the profile of the vendor; omitted fields stay unchanged, null empties one',
    body: change,
    bodyLimit,
    data: profile,
  }),
  getOfApp: endpoint({
    method: 'GET',
    path: '/apps/:id/profile',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Get the profile of an app; for what is null in it the profile of the vendor counts',
    params: idParams,
    data: profile,
  }),
  updateOfApp: endpoint({
    method: 'PUT',
    path: '/apps/:id/profile',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Change the profile of an app; omitted fields stay unchanged, null empties one',
    params: idParams,
    body: change,
    bodyLimit,
    data: profile,
  }),
}

export type Profile = z.output<typeof profile>
