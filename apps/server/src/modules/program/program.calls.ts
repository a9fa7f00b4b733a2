import type { KeyObject } from 'node:crypto'
import type { MessageKey } from '@keyward/contract'
import type { Problem } from '../../core/problem.ts'
import { messageOf } from '../apps/apps.messages.ts'
import { toMachine } from '../devices/devices.rules.ts'
import { sessionLifetimeMs } from '../sessions/program-sessions.rules.ts'
import { allowedUser, checkSession, openSession } from './checks/session.ts'
import { callerOf, judgeCaller } from './facts/caller.ts'
import { type AppFacts, type SessionFacts, toActor } from './facts/facts.ts'
import type { ProgramDeps } from './program.deps.ts'
import { logout, sessionWithoutRow } from './sessions/sessions.ts'
import { signInByKey } from './sign-in/by-key.ts'
import { refuseBuild } from './sign-in/init.ts'
import { login } from './sign-in/login.ts'
import { register } from './sign-in/register.ts'
import { upgrade } from './sign-in/upgrade.ts'
import { contextOf, isMessageKey, noteRefusal } from './verdict/refusal.ts'

export type { AppFacts, SessionFacts }
export type ProgramCalls = ReturnType<typeof createProgramCalls>

interface Sent {
  hwid: string | undefined
  address: string
}

interface Logged {
  text: string
  detail: object
  address: string
}

interface RefusedCall {
  app: AppFacts
  found: Problem
  /** The name of the call in our own protocol. */
  call: string
  sent: { username?: string | undefined; licenseKey?: string | undefined }
  address: string
}

/** The calls of programs, for other protocols than our own. They read, decide, count and record the same. */
export function createProgramCalls(deps: ProgramDeps) {
  const { ctx, reads, turns } = deps
  const withMachine = <T extends Sent>({ app }: SessionFacts, { hwid, ...sent }: T) => ({
    ...sent,
    machine: toMachine(app.appId, hwid, undefined),
  })
  return {
    lifetimeMs: sessionLifetimeMs,
    toActor,
    findApp: (id: string) => reads.app(id),
    readSession: (tokenHash: string) => reads.session(tokenHash),
    sessionWithoutRow,
    openSession: (app: AppFacts, session: SessionFacts | undefined) =>
      openSession(app, session, ctx.clock.now()),
    /** Refuses a build that may not open a session; the caller knows that the program is one of the app. */
    init: async (app: AppFacts, sent: { version: string; hash: string | undefined; address: string }) => {
      await refuseBuild(deps, app, { ...sent, hasSecret: true })
      const { ownerId, id: appId } = app
      deps.activity.note({ ownerId, appId, kind: 'init', subject: sent.version, address: sent.address })
    },
    register: (
      session: SessionFacts,
      sent: Sent & { username: string; password: string; licenseKey: string; email?: string | undefined },
    ) => register(deps, session, withMachine(session, sent)),
    login: (session: SessionFacts, sent: Sent & { username: string; password: string }) =>
      login(deps, session, { ...withMachine(session, sent), ignoresSpaces: true }),
    license: (session: SessionFacts, sent: Sent & { licenseKey: string }) =>
      turns.take(session, sent.address, (pause) =>
        signInByKey(deps, session, withMachine(session, sent), pause),
      ),
    upgrade: (session: SessionFacts, sent: { username: string; licenseKey: string; address: string }) =>
      turns.take(session, sent.address, () => upgrade(deps, session, sent)),
    check: (session: SessionFacts, address: string) => checkSession(deps, session, address),
    logout: (session: SessionFacts, address: string) =>
      turns.take(session, address, () => logout(ctx, session, address)),
    inTurn: <Result>(session: SessionFacts, address: string, work: () => Promise<Result>) =>
      turns.take(session, address, work),
    /** The signed-in end user, unless the verdict refuses. */
    allowedUser: async (session: SessionFacts, address: string) =>
      (await allowedUser(deps, session, { call: 'session', address })).endUser,
    /** Whether the app's block list names the machine or the address. */
    isBlocked: async (app: AppFacts, { hwid, address }: Sent) =>
      (await judgeCaller(deps, app, callerOf(toMachine(app.appId, hwid, undefined), address))).blocked !==
      null,
    publicVariables: (app: AppFacts) => deps.variables.public(app),
    variablesOf: (app: AppFacts, endUser: { id: string; variablesRevision: string | null }) =>
      deps.variables.ofUser(app, endUser),
    textOf: async (app: AppFacts, key: MessageKey, reason?: string | null) =>
      messageOf(await reads.texts(app, undefined), key, reason),
    /** Notes a refusal like one of our own protocol, and returns the app's text for it. */
    refuse: async ({ app, found, call, sent, address }: RefusedCall): Promise<string> => {
      const { code } = found
      if (!isMessageKey(code)) return found.message
      noteRefusal(
        deps.activity,
        { app, code, path: `/client/${call}`, body: sent, address },
        contextOf(found),
      )
      return messageOf(await reads.texts(app, undefined), code, found.reason)
    },
    /** Keeps what a program says of itself in the activity log. */
    log: ({ app, endUser }: SessionFacts, { text, detail, address }: Logged) => {
      const of = { ownerId: app.ownerId, appId: app.id, clientId: endUser?.id ?? null }
      deps.activity.note({ ...of, kind: 'program.logged', subject: text, address, detail })
    },
    attempts: deps.attempts,
    signText: (text: string, key: KeyObject) => deps.signer.signText(text, key),
  }
}
