import { type Ref, useImperativeHandle, useLayoutEffect } from 'react'

export interface OverlayAnchorProps {
  element: HTMLElement
  ref?: Ref<HTMLElement>
  'aria-controls'?: string
  'aria-describedby'?: string
}

/** Makes an element that is already on the page the trigger of a Radix panel, whose `Trigger` renders this as its child. */
export function OverlayAnchor({ element, ref, ...props }: OverlayAnchorProps) {
  useImperativeHandle(ref, () => element, [element])
  const { 'aria-controls': controls, 'aria-describedby': describedBy } = props
  useLayoutEffect(() => {
    if (controls === undefined) return
    element.setAttribute('aria-controls', controls)
    return () => element.removeAttribute('aria-controls')
  }, [element, controls])
  useLayoutEffect(() => {
    if (describedBy === undefined) return
    element.setAttribute('aria-describedby', describedBy)
    return () => element.removeAttribute('aria-describedby')
  }, [element, describedBy])
  return null
}
