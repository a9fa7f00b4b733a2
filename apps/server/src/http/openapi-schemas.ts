import { endpoints } from '@keyward/contract'
import { z } from 'zod'

export type Json = Record<string, unknown>

const { accountSessions, activity, apiKeys, apps, auth, blocklist, clients, licenses, licenseTypes } =
  endpoints
const { members, offlineActivations, payments, plans, portal, program, releases, resellers } = endpoints
const { secondFactor, signingKeys, variables, webhooks } = endpoints

/** Objects of answers that generated clients know by name; everything else stands where it is used. */
const named: Readonly<Record<string, z.ZodType>> = {
  ActivityEvent: activity.list.data.shape.events.element,
  ApiKey: apiKeys.create.data.shape.apiKey,
  App: apps.get.data.shape.app,
  AppVariable: variables.app.data.shape.variables.element,
  Block: blocklist.add.data.shape.block,
  Client: clients.createDirect.data.shape.client,
  ClientVariable: variables.client.data.shape.variables.element,
  Device: clients.devices.data.shape.devices.element,
  License: licenses.toggleBan.data.shape.license,
  LicenseType: licenseTypes.create.data.shape.licenseType,
  Member: members.invite.data.shape.member,
  OfflineActivation: offlineActivations.deactivate.data.shape.activation,
  Pagination: licenses.list.data.shape.pagination,
  Passkey: secondFactor.get.data.shape.passkeys.element,
  Payment: payments.history.data.shape.payments.element,
  Plan: plans.list.data.shape.plans.element,
  PortalLicense: portal.createLicenses.data.shape.licenses.element,
  PortalReseller: portal.profile.data.shape.reseller,
  ProgramUser: program.session.data.shape.user,
  Release: releases.add.data.shape.release,
  Reseller: resellers.update.data.shape.reseller,
  Session: accountSessions.list.data.shape.sessions.element,
  SigningKey: signingKeys.list.data.shape.signingKeys.element,
  Subscription: auth.profile.data.shape.user.shape.subscription,
  User: auth.profile.data.shape.user,
  Webhook: webhooks.create.data.shape.webhook,
  WebhookDelivery: webhooks.test.data.shape.delivery,
}

const names = new Map<unknown, string>(Object.entries(named).map(([name, schema]) => [schema, name]))

/** The JSON Schema of something that is sent (`input`) or answered (`output`). */
export function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => {
      const name = names.get(zodSchema)
      const isWhole = (zodSchema as unknown) === schema
      if (io === 'input' || name === undefined || isWhole) return
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Json)[key]
      jsonSchema.$ref = `#/components/schemas/${name}`
    },
  })
  return json
}

export const namedSchemas = (): Json =>
  Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, toSchema(schema, 'output')]))
