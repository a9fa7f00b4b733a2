import type { IncomingHttpHeaders } from 'node:http'
import type { OrderFact } from './orders.facts.ts'

/** A request to a hook, as it was sent. */
export interface SentEvent {
  headers: IncomingHttpHeaders
  body: Buffer
  /** Milliseconds since 1970. */
  now: number
}

/** What a shop's scheme says of a request whose signature is valid. */
export interface ReceivedEvent {
  /** By the shop; a repeat has the same one. */
  id: string
  /** When it happened, where its body does not say it: when the shop sent it. */
  at: number
}

/** How one kind of shop signs its events, and what they say. */
export interface ShopAdapter {
  /** Whether orders are read back with a key of the vendor. */
  needsApiKey: boolean
  /** Whether the address is secret, because nothing is signed. */
  hasSecretHook?: boolean
  /** Why a secret cannot be one of this kind. */
  findFault(secret: string): string | undefined
  /** Undefined if the signature is wrong or too old. */
  verify(secret: string, sent: SentEvent): ReceivedEvent | undefined
  /** What an event says about an order; undefined if it says nothing about one. Throws a problem for a body that is none. */
  read(body: string, at: number): ToldFact | undefined
}

/** Reads an object back from the shop's own server. */
export interface ReadBack {
  (path: string): Promise<unknown>
  /** Whether the API key is one of the shop's test account. */
  isSandbox: boolean
}

/** Its message is for the vendor. */
export class ReadBackError extends Error {
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** A fact that the event itself does not contain. */
export interface AskedFact {
  /** The order, as far as the event tells. */
  order: string
  /** What is stored of the event: what it takes to ask, and nothing about the buyer. */
  body: string
  ask: (readBack: ReadBack) => Promise<OrderFact | undefined>
}

export type ToldFact = OrderFact | AskedFact
