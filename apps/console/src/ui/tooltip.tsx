import { Slot } from 'radix-ui'
import { type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { preloadOverlays, useOverlays } from './overlays.ts'

export interface TooltipProps {
  content: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  /** One focusable element. */
  children: ReactNode
}

const delayMs = 200
let closeShown: (() => void) | undefined

export function Tooltip({ content, side = 'top', children }: TooltipProps) {
  const trigger = useRef<HTMLElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const [shown, setShown] = useState(false)
  const panels = useOverlays(shown, () => setShown(false))

  const hide = () => {
    clearTimeout(timer.current)
    setShown(false)
  }
  const show = () => {
    clearTimeout(timer.current)
    if (closeShown !== hide) closeShown?.()
    closeShown = hide
    setShown(true)
  }
  useEffect(() => () => clearTimeout(timer.current), [])

  return (
    <>
      <Slot.Root
        ref={trigger}
        onPointerEnter={(event: PointerEvent) => {
          if (event.pointerType === 'touch') return
          preloadOverlays()
          timer.current = setTimeout(show, delayMs)
        }}
        // The panel itself closes when the pointer leaves both, so that the pointer can move onto it.
        onPointerLeave={() => (panels ? clearTimeout(timer.current) : hide())}
        onPointerDown={hide}
        onClick={hide}
        onFocus={() => trigger.current?.matches(':focus-visible') && show()}
        onBlur={hide}
      >
        {children}
      </Slot.Root>
      {panels && trigger.current && (
        <panels.TooltipPanel anchor={trigger.current} content={content} side={side} onClose={hide} />
      )}
    </>
  )
}
