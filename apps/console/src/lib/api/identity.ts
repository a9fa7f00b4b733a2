import type { Session } from './session.ts'

type Ask = (session: Session) => Promise<boolean>

let ask: Ask | undefined
const asking = new Map<Session, Promise<boolean>>()

/** Sets who asks people to confirm that it is them, and returns a function that unsets it. */
export function askForIdentityWith(next: Ask): () => void {
  ask = next
  return () => {
    if (ask === next) ask = undefined
  }
}

/** Whether the person confirmed that it is them. Concurrent calls of a session share one question. */
export function confirmIdentity(session: Session): Promise<boolean> {
  const running = asking.get(session)
  if (running) return running
  const answer = (ask?.(session) ?? Promise.resolve(false)).finally(() => asking.delete(session))
  asking.set(session, answer)
  return answer
}
