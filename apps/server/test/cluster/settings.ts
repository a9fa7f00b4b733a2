/** The addresses of `deploy/cluster` as addresses of this machine. */
export const toLoopback = (text: string): string => text.replaceAll('10.0.0.', '127.0.7.')
