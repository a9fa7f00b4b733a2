import { z } from 'zod'
import { limits } from './constants.ts'
import { endpoint } from './endpoint.ts'
import { isPlaceholderId } from './placeholder-ids.ts'
import { banReason, fullPageQuery, id, idParams, isoTime, none, pagination, seenValues } from './shared.ts'

export const blockKinds = ['hwid', 'address'] as const
const kind = z.enum(blockKinds)

const block = z.strictObject({
  _id: z.string(),
  kind,
  value: z.string().describe('the hardware id as the program sends it; an address or a network'),
  reason: z.string().nullable(),
  createdAt: isoTime,
})

const programHash = z.strictObject({
  version: z.string().trim().min(1, 'Version is required').max(32, 'Version is too long'),
  hash: z
    .string()
    .trim()
    .max(256)
    .regex(/^[\w+/=:.-]{16,256}$/, 'A hash has 16 to 256 letters, digits and + / = : . - _'),
})

const tag = 'Blocking'
const oneBlock = z.strictObject({ block })
const allowed = z.array(programHash).max(limits.programHashesMax)
const hashes = z.strictObject({ hashes: z.array(programHash) })

export const blocklist = {
  list: endpoint({
    method: 'GET',
    path: '/apps/:id/blocklist',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'List the blocked devices and addresses of an app, newest first',
    params: idParams,
    query: fullPageQuery,
    data: z.strictObject({ blocks: z.array(block), pagination }),
  }),
  add: endpoint({
    method: 'POST',
    path: '/apps/:id/blocklist',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Block a hardware id, an address or a network; an IPv6 address counts as its /64 network',
    params: idParams,
    body: z
      .strictObject({
        kind,
        value: z.string().trim().min(1, 'Value is required').max(limits.hwidMax, 'Value is too long'),
        reason: banReason.optional(),
      })
      .refine(({ kind, value }) => kind !== 'hwid' || value === '' || !isPlaceholderId(value), {
        path: ['value'],
        message: 'Many machines have this hardware id: it identifies none of them',
      }),
    data: oneBlock,
    status: 201,
    errors: ['blocklist_full', 'already_blocked'],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/blocklist/:id',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Unblock a device, an address or a network',
    params: z.object({ id }),
    data: none,
  }),
  hashes: endpoint({
    method: 'GET',
    path: '/apps/:id/program-hashes',
    access: 'owner',
    permission: 'apps:read',
    tag,
    summary: 'Get the hashes of the builds that `checkHash` accepts',
    params: idParams,
    data: hashes,
  }),
  setHashes: endpoint({
    method: 'PUT',
    path: '/apps/:id/program-hashes',
    access: 'owner',
    permission: 'apps:write',
    tag,
    summary: 'Replace the allowed hashes; an empty list turns the check off',
    params: idParams,
    body: z.strictObject({ hashes: allowed, seen: seenValues({ hashes: allowed }) }),
    bodyLimit: 393_216,
    valuesMax: 1500,
    data: hashes,
    errors: ['app_changed'],
  }),
}

export type Block = z.output<typeof block>
export type ProgramHash = z.output<typeof programHash>
