import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { pricing } from './plans.ts'

const link = z.url().nullable()
const tag = 'System'

export const system = {
  health: endpoint({
    method: 'GET',
    path: '/health',
    access: 'public',
    tag,
    summary: 'Check that the process is up',
    data: z.strictObject({ status: z.literal('up') }),
  }),
  ready: endpoint({
    method: 'GET',
    path: '/ready',
    access: 'public',
    tag,
    summary: 'Check that the database responds and can be written to',
    query: z.object({
      for: z
        .enum(['checks', 'writes'])
        .default('writes')
        .describe(
          '`checks`: whether the server answers calls that write nothing, such as checks of programs',
        ),
    }),
    data: z.strictObject({ status: z.literal('ready') }),
    errors: ['unavailable'],
  }),
  config: endpoint({
    method: 'GET',
    path: '/config',
    access: 'public',
    tag,
    summary: 'Get what the console needs before sign-in',
    data: z.strictObject({
      version: z.string(),
      publicUrl: z
        .string()
        .nullable()
        .describe('the URL where programs reach this server, if the operator has set it'),
      registration: z.enum(['open', 'closed']),
      passwordPolicy: z.enum(['basic', 'strict']),
      passwordReset: z
        .enum(['mail', 'operator'])
        .describe('how a forgotten password is reset: by a mailed link, or by the operator'),
      payments: z.enum(['mock', 'razorpay', 'off']),
      vpnRanges: z.boolean().describe('whether this server knows the addresses of VPN providers'),
      development: z.boolean().describe('whether the server answers its own machine alone'),
      pricing: pricing
        .nullable()
        .describe(
          'plans and prices for visitors; null while the server takes no payments, or every account has premium',
        ),
      links: z.strictObject({
        shipping: link,
        refund: link,
        paymentTerms: link,
        community: link,
        videos: link,
      }),
    }),
  }),
}
