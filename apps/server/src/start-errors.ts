import type { Config } from './config.ts'
import { OperatorError } from './core/operator-error.ts'

/** Explains why the server cannot listen; undefined for errors that the operator did not cause. */
export function listenFault(error: unknown, { host, port }: Config): OperatorError | undefined {
  const { code } = error as { code?: string }
  const line =
    code === 'EADDRINUSE'
      ? `Port ${port} is taken. Set PORT to another one.`
      : code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'
        ? `HOST ${host} is not an address of this machine.`
        : code === 'ENOTFOUND' || code === 'EAI_AGAIN'
          ? `HOST ${host} cannot be resolved. Set HOST to an address of this machine.`
          : code === 'EACCES' || code === 'EPERM'
            ? `Not allowed to listen on port ${port}. Set PORT to 1024 or higher, or allow it.`
            : undefined
  return line === undefined ? undefined : new OperatorError(line)
}
