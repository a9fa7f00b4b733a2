let ahead = 0

/** Dates in responses have whole seconds and arrive late, so a small difference says nothing about the clock. */
const noticedMs = 60_000

/** Notes the server's time, as its response says it. */
export function noteServerTime({ headers }: Pick<Response, 'headers'>): void {
  const difference = Date.parse(headers.get('date') ?? '') - Date.now()
  ahead = Math.abs(difference) > noticedMs ? difference : 0
}

/** The server's time, in milliseconds: the browser's clock may be wrong, and ends of licenses follow the server. */
export const serverNow = (): number => Date.now() + ahead
