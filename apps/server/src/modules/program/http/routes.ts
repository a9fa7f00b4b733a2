import { endpoints, type SentDevice } from '@keyward/contract'
import { WithMessage } from '../../../core/answers.ts'
import { sha256 } from '../../../core/crypto.ts'
import { toTypedKey } from '../../../core/ids.ts'
import { invalid, problem } from '../../../core/problem.ts'
import { after } from '../../../core/queues/after.ts'
import { toJwk } from '../../../core/signing/signing.ts'
import { keyFailuresOf } from '../../../service/attempts.ts'
import { toMachine } from '../../devices/devices.rules.ts'
import { readLinks } from '../../licenses/buy-links.ts'
import { listPinnableKeys } from '../../signing-keys/signing-keys.access.ts'
import { freeOwnDevice, listOwnDevices } from '../checks/devices.ts'
import { advise, checkSession, type SignedInUser } from '../checks/session.ts'
import { validate } from '../checks/validate.ts'
import type { AppFacts, SessionFacts } from '../facts/facts.ts'
import { issueLease } from '../offline/lease.ts'
import type { ProgramDeps } from '../program.deps.ts'
import { logout } from '../sessions/sessions.ts'
import type { Pause } from '../sessions/write-turns.ts'
import { signInByKey } from '../sign-in/by-key.ts'
import { init } from '../sign-in/init.ts'
import { login } from '../sign-in/login.ts'
import { register } from '../sign-in/register.ts'
import { remember, resume } from '../sign-in/remember.ts'
import { startTrial } from '../sign-in/trial.ts'
import { upgrade } from '../sign-in/upgrade.ts'
import { findUpdate } from '../updates/updates.ts'
import { noteRefusal } from '../verdict/refusal.ts'
import type { ProgramMount } from './mount.ts'

export function programRoutes(mount: ProgramMount, deps: ProgramDeps): void {
  const { program } = endpoints
  const withVariables = ({ app, endUser }: SessionFacts, user: SignedInUser) =>
    after(deps.variables.ofUser(app, endUser?.id === user._id ? endUser : { id: user._id }), (variables) => ({
      ...user,
      variables,
    }))
  const withLinks = async <User extends SignedInUser>({ app }: SessionFacts, user: User) => ({
    ...user,
    links: await readLinks(deps.ctx, app, { clientId: user._id }),
  })
  const greeted = async (session: SessionFacts, user: SignedInUser) =>
    withLinks(session, await withVariables(session, user))
  const signedIn = async (
    session: SessionFacts,
    user: SignedInUser,
    body: { remember?: boolean | undefined },
    address: string,
  ) => {
    const endUserId = user._id
    const deviceToken = body.remember ? await remember(deps, session, { endUserId, address }) : undefined
    return { user: await greeted(session, user), ...(deviceToken !== undefined && { deviceToken }) }
  }
  const inTurn =
    <Call extends { session: SessionFacts; address: string }, Result>(
      handle: (call: Call, pause: Pause) => Promise<Result>,
    ) =>
    (call: Call): Promise<Result> =>
      deps.turns.take(call.session, call.address, (pause) => handle(call, pause))
  mount.program(program.init, async ({ body, address, signAs }) => {
    const app = await getApp(deps, body.appId)
    signAs(app)
    const opened = await init(deps, app, body)
    deps.activity.note({ ownerId: app.ownerId, appId: app.id, kind: 'init', subject: body.version, address })
    return opened
  })
  mount.session(program.register, async ({ session, body, address, textOf }) => {
    const user = await register(deps, session, { ...body, machine: machineOf(session.app, body), address })
    return new WithMessage(await signedIn(session, user, body, address), await textOf('loggedInMsg'))
  })
  mount.session(program.login, async ({ session, body, address, textOf }) => {
    const user = await login(deps, session, { ...body, machine: machineOf(session.app, body), address })
    return new WithMessage(await signedIn(session, user, body, address), await textOf('loggedInMsg'))
  })
  mount.session(
    program.license,
    inTurn(async ({ session, body, address, textOf }, pause) => {
      const sent = { ...body, machine: machineOf(session.app, body), address }
      const user = await signInByKey(deps, session, sent, pause)
      return new WithMessage(await signedIn(session, user, body, address), await textOf('loggedInMsg'))
    }),
  )
  mount.session(
    program.trial,
    inTurn(async ({ session, body, address, textOf }) => {
      const machine = toMachine(session.app.appId, body.hwid, body.device)
      if (!machine) throw invalid('hwid', 'A trial needs a hardware id')
      const user = await startTrial(deps, session, { ...body, machine, address })
      return new WithMessage({ user: await greeted(session, user) }, await textOf('loggedInMsg'))
    }),
  )
  mount.session(
    program.resume,
    inTurn(async ({ session, body, address, textOf }) => {
      const machine = toMachine(session.app.appId, body.hwid, body.device)
      if (!machine) throw invalid('hwid', 'A remembered sign-in needs a hardware id')
      const { user, deviceToken } = await resume(deps, session, { ...body, machine, address })
      const data = { user: await greeted(session, user), deviceToken }
      return new WithMessage(data, await textOf('loggedInMsg'))
    }),
  )
  mount.session(
    program.upgrade,
    inTurn(async ({ session, body, address }) => {
      const user = await upgrade(deps, session, { ...body, address })
      // A key is no proof of who the end user is.
      const isSignedIn = session.endUser?.id === user._id
      const shown = isSignedIn ? await withVariables(session, user) : { ...user, variables: {} }
      return { user: await withLinks(session, shown) }
    }),
  )
  mount.session(program.session, ({ session, address }) =>
    after(checkSession(deps, session, address), (checked) =>
      after(withVariables(session, checked), (user) => ({ user, advisory: advise(deps, session) })),
    ),
  )
  mount.session(program.updates, ({ session, body, address }) =>
    findUpdate(deps, session, { ...body, address }),
  )
  mount.session(program.lease, ({ session, body, address, pinned }) =>
    issueLease(deps, session, { ...body, address, pinned }),
  )
  mount.session(program.logout, async ({ session, address }) => {
    await logout(deps.ctx, session, address)
    return {}
  })
  mount.program(program.validate, async ({ body, address, signAs, textOf }) => {
    const { appId, licenseKey, hwid, activate } = body
    const misses = keyFailuresOf(address)
    const hwidHash = sha256((hwid ?? '').trim())
    const read = (key = licenseKey) => deps.reads.license(appId, toTypedKey(key), hwidHash, misses)
    const facts = await read()
    if (!facts) throw problem('appDisabled')
    signAs(facts.app)
    const machine = toMachine(facts.app.appId, hwid, body.device, hwidHash)
    const { verdict, reason, context } = await validate(deps, facts, {
      ...{ licenseKey, machine, address, activate, read },
    })
    const { code } = verdict
    if (code === undefined) return verdict
    const sent = { ...body, licenseKey: verdict.license?.key ?? licenseKey }
    const refusal = { app: facts.app, code, path: program.validate.path, body: sent, address }
    const reference = noteRefusal(deps.activity, refusal, context)
    return new WithMessage({ ...verdict, reference }, await textOf(code, reason))
  })
  mount.session(program.devices, async ({ session, address }) => ({
    devices: await listOwnDevices(deps, session, address),
  }))
  mount.session(program.freeDevice, async ({ session, params, address }) => {
    await freeOwnDevice(deps, session, { deviceId: params.deviceId, address })
    return {}
  })
  mount.program(program.keys, async ({ params, signAs }) => {
    const app = await getApp(deps, params.appId)
    signAs(app)
    return { keys: await listKeys(deps, app) }
  })
}

const machineOf = (
  app: AppFacts,
  { hwid, device }: { hwid?: string | undefined; device?: SentDevice | undefined },
) => toMachine(app.appId, hwid, device)

/** Finds an app in any state; programs see an unknown app as disabled. */
async function getApp({ reads }: Pick<ProgramDeps, 'reads'>, idOrAppId: string): Promise<AppFacts> {
  const app = await reads.app(idOrAppId)
  if (!app) throw problem('appDisabled')
  return app
}

/** The public keys that programs may pin, newest first. */
async function listKeys({ ctx }: Pick<ProgramDeps, 'ctx'>, { id, signing }: AppFacts) {
  const keys = await listPinnableKeys(ctx.db, id)
  const pinnable = keys.length > 0 ? keys : [{ ...signing, status: 'current' as const }]
  return pinnable.map(({ kid, publicKey, status }) => ({ ...toJwk(kid, publicKey), status }))
}
