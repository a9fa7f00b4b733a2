import { z } from 'zod'
import { limits } from './constants.ts'
import { version } from './shared.ts'
import { shopLink } from './web-link.ts'

/** An address, or a network such as `203.0.113.0/24`. */
const network = z.string().trim().min(1, 'Address is required').max(64, 'Address is too long')

/** The color of a vendor, as `#rrggbb`. */
export const brandColor = z
  .string()
  .length(7, 'A color is # and six hex digits, such as #2563eb')
  .regex(/^#[0-9a-f]{6}$/i, 'A color is # and six hex digits, such as #2563eb')
  .toLowerCase()

/** What an owner can set per app, besides its name and version. */
export const appSettings = z.strictObject({
  hwidLock: z.boolean(),
  allowCustomLicenseKey: z.boolean(),
  requireHwid: z.boolean().describe('refuse programs that send no hardware id'),
  requireActivation: z.boolean().describe('`validate` accepts only machines that are devices of the license'),
  deviceTolerance: z.boolean().describe('accept a device again if three of its four parts are unchanged'),
  deviceSelfService: z.boolean().describe('let programs free devices of their end user'),
  deviceCooldownHours: z
    .int()
    .min(1)
    .max(limits.deviceCooldownHoursMax)
    .describe('hours between two devices that a program frees; at most five drifts of a device in this time'),
  usernameMin: z.int().min(limits.usernameMin).max(limits.usernameMinMax),
  blockVpn: z.boolean().describe('works only where the server has a list of the addresses of VPN providers'),
  vpnAllowed: z
    .array(network)
    .max(limits.vpnAllowedMax)
    .describe('addresses and networks that `blockVpn` lets through'),
  checkHash: z.boolean().describe('`init` requires an allowed hash, unless no hash is allowed'),
  rememberDays: z
    .int()
    .min(0)
    .max(limits.rememberDaysMax)
    .describe(`how long devices stay signed in; 0 turns it off; ${limits.rememberDaysDefault} for a new app`),
  leaseHours: z
    .int()
    .min(1)
    .max(limits.leaseHoursMax)
    .describe('how long a program runs offline without a new lease'),
  graceHours: z
    .int()
    .min(0)
    .max(limits.leaseHoursMax)
    .describe('how much longer it runs offline after a lease ended'),
  activityDays: z
    .int()
    .min(limits.activityDaysMin)
    .max(limits.activityDaysMax)
    .describe('how long the activity log keeps events'),
  checkPasswords: z.boolean().describe('rejects common and leaked passwords of new end users'),
  minimumVersion: version
    .nullable()
    .describe('the oldest version that may run, unless the license covers no newer one; null for all'),
  publicUpdates: z.boolean().describe('everybody can read the feeds of updates'),
  testLicenses: z.boolean().describe('licenses of test orders work'),
  customerPage: z.boolean().describe('customers can open their page at `/u/{appId}`'),
  customerDevices: z
    .int()
    .min(0)
    .max(limits.customerDevicesMax)
    .describe(
      `devices that a customer can free on its page, for each end user within ${limits.customerDeviceDays} days; 0 turns it off`,
    ),
  brandColor: brandColor.nullable().describe('the color of the page; null for the default one'),
  buyUrl: shopLink.nullable().describe('the shop, for people without a license; null for none'),
})

export type AppSettings = z.output<typeof appSettings>
