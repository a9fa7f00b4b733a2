import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { Callout } from '../../ui/states.tsx'
import { pollMs, type Waiting } from './waiting.ts'

/** Shown while the provider has not confirmed the payment. */
export function WaitingNotice({ waiting, onCheck }: { waiting: Waiting; onCheck: () => void }) {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), Math.max(0, waiting.since + pollMs - Date.now()))
    return () => clearTimeout(timer)
  }, [waiting])
  // On phones the pressed button is far below the notice.
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    void box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div ref={box} className="scroll-mt-20 pt-6">
      <Callout
        tone="accent"
        icon={<Spinner className="size-5 text-accent-text" />}
        title="Waiting for confirmation"
        action={slow && <Button onClick={onCheck}>Check Again</Button>}
      >
        Your payment was sent. Premium starts automatically once the payment provider confirms it
        {slow ? ', which is taking longer than usual. You can leave this page.' : '.'}
      </Callout>
    </div>
  )
}
