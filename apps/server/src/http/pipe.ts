import type { FastifyReply, FastifyRequest } from 'fastify'
import { visitorOf } from '../core/networks/caller.ts'
import type { Soon } from '../core/queues/after.ts'
import { sendProblem } from './errors.ts'
import type { Sent } from './input.ts'
import type { Turn } from './turns.ts'

/** A request on its way through the steps. */
export interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The caller's address as rate limits count it; forwarded headers count only from trusted proxies. */
  readonly address: string
}

export type Wait = Promise<void> | undefined

/**
 * What happens to a request, from top to bottom. A kind of call has the steps that it needs. A step throws what refuses
 * the request. One that has nothing to wait for returns no promise, because each promise costs a check time.
 */
export interface Steps<C extends Call, Actor, Input, Result> {
  /** What this kind knows of a request beside `Call`. */
  begin(request: FastifyRequest, reply: FastifyReply): C
  /** Refuses a flood, and what could only wait for a hash, before anything is looked up or read. */
  headers(call: C): Wait
  /** Finds out who asks, by its token. */
  authenticate?: (call: C) => Promise<Actor>
  /** Refuses an actor that may not make the call. */
  authorize?: (actor: Actor) => void
  /** Refuses an account that has used up its write budget. */
  budget?: (actor: Actor) => Wait
  /** Waits for a turn of the account, and for a place for a large body. */
  turn?: (call: C, actor: Actor) => Promise<Turn>
  /** Reads the body; undefined without one. */
  body?: (call: C) => Promise<Sent> | undefined
  /** Refuses a body that is not the one that the headers name. */
  verify?: (call: C, sent: Sent | undefined) => void
  /** Opens the session of a program, whose refusal is signed for this body. */
  session?: (call: C) => Soon<Actor>
  /** Checks parameters, query and body against the contract. */
  parse(call: C, sent: Sent | undefined, actor: Actor): Input
  /** Refuses an actor that may make the call, but not with this input. */
  permit?: (actor: Actor, input: Input) => void
  /** Does what follows once for each Idempotency-Key. */
  once?: (call: C, input: Input, handle: (input: Input) => Soon<Result>) => Promise<Result>
  /** Does the work. */
  handle(input: Input): Soon<Result>
  /** The answer as an object; undefined once it was sent as a file or a stream. */
  answer(call: C, result: Result, turn: Turn | undefined): object | undefined
  /** The answer to a call that a step refused. */
  refuse(error: unknown, call: C): object | Promise<object>
  /** Signs the bytes of the answer. */
  sign?: (call: C, body: string) => Soon<void>
}

export const toCall = (request: FastifyRequest, reply: FastifyReply): Call => ({
  request,
  reply,
  address: visitorOf(request.ip),
})

/** Returns the handler of a route. */
export const pipe =
  <C extends Call, Actor, Input, Result>(steps: Steps<C, Actor, Input, Result>) =>
  (request: FastifyRequest, reply: FastifyReply): void => {
    // Fastify would wait for a promise once more.
    run(steps, steps.begin(request, reply)).catch((error) => reply.send(error))
  }

async function run<C extends Call, Actor, Input, Result>(
  steps: Steps<C, Actor, Input, Result>,
  call: C,
): Promise<void> {
  let turn: Turn | undefined
  try {
    const checking = steps.headers(call)
    if (checking) await checking
    let actor = undefined as Actor
    if (steps.authenticate) actor = await steps.authenticate(call)
    steps.authorize?.(actor)
    const spending = steps.budget?.(actor)
    if (spending) await spending
    if (steps.turn) turn = await steps.turn(call, actor)
    const reading = steps.body?.(call)
    const sent = reading && (await reading)
    turn?.bodyRead()
    steps.verify?.(call, sent)
    if (steps.session) actor = await steps.session(call)
    const input = steps.parse(call, sent, actor)
    steps.permit?.(actor, input)
    const result = await (steps.once ? steps.once(call, input, steps.handle) : steps.handle(input))
    const answer = steps.answer(call, result, turn)
    if (answer) await send(steps, call, answer)
  } catch (error) {
    await refuse(steps, call, error)
  } finally {
    turn?.end()
  }
}

type Ending<C extends Call> = Pick<Steps<C, never, never, never>, 'refuse' | 'sign'>

/** Answers a call that cannot go on. */
export async function refuse<C extends Call>(steps: Ending<C>, call: C, error: unknown): Promise<void> {
  try {
    await send(steps, call, await steps.refuse(error, call))
  } catch (broken) {
    // Without the database, nothing finds the key that signs.
    sendProblem(broken, call.request, call.reply)
  }
}

function send<C extends Call>(steps: Ending<C>, call: C, answer: object): Soon<void> {
  const body = JSON.stringify(answer)
  call.reply.type('application/json; charset=utf-8')
  const end = () => void call.reply.send(body)
  const signing = steps.sign?.(call, body)
  return signing instanceof Promise ? signing.then(end) : end()
}

const scheme = 'bearer '

/** What it contains needs no check: a token that was not issued is not found. */
export function bearerToken({ headers: { authorization = '' } }: FastifyRequest): string | undefined {
  const token = authorization.slice(scheme.length)
  const isBearer = authorization.slice(0, scheme.length).toLowerCase() === scheme
  return isBearer && token.length >= 20 && token.length <= 1200 ? token : undefined
}
