import type { Artifact, DeviceDescription, Fetch, KeywardStorage } from './types.ts'

/** What the SDK needs from its surroundings; one implementation for Node, Bun and Deno, one for browsers. */
export interface Platform {
  sha256(bytes: Uint8Array): Promise<Uint8Array>
  randomBytes(length: number): Uint8Array
  /** Prepares the 32 bytes of an Ed25519 public key (RFC 8032) for verification. */
  toVerifier(publicKey: Uint8Array): Verify
  /** The id of this machine for one app. Rejects if the machine has none, or if it cannot be read. */
  findHwid(appId: string): Promise<string>
  /** Name, system and parts of this machine; undefined where there are none. */
  describeDevice(appId: string): Promise<DeviceDescription | undefined>
  /** Storage for one app that only this user of the machine can read. */
  openStorage(appId: string): KeywardStorage
  /** What requests name as their `User-Agent`; undefined where browsers name themselves. */
  userAgent?: string
  /** Requests through an HTTP proxy; undefined where programs cannot choose one. */
  proxyFetch?(proxy: HttpProxy): Fetch
  /** Requests through the proxy that the environment names, else with `direct`; undefined where `direct` does that. */
  environmentFetch?(direct: Fetch): Fetch
  /** The run of the operating system, and its age in seconds; undefined where it has no name. */
  boot?(): Promise<{ id: string; uptime: number } | undefined>
  /** This machine in the names of artifacts; undefined where programs cannot know it. */
  target?: { platform: string; architecture: string }
  /** Downloads a file and checks it; undefined where programs have no files. */
  download?(wanted: Download): Promise<string>
  /** Prints a warning where developers see it. */
  warn(code: string, message: string): void
}

/** A file to download. */
export interface Download {
  artifact: Artifact
  folder: string
  fetch: Fetch
  /** How long to wait for the next bytes. */
  timeoutMs: number
  onProgress?: ((received: number, size: number) => void) | undefined
}

/** An HTTP proxy, as the option `proxy` names it. */
export interface HttpProxy {
  host: string
  port: number
  /** The value of `Proxy-Authorization`. */
  authorization?: string
}

/** Resolves to whether `signature` is the key's signature of `message`. */
export type Verify = (message: Uint8Array, signature: Uint8Array) => Promise<boolean>
