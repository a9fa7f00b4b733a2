import type { CSSProperties } from 'react'
import { Toaster as Sonner, toast } from 'sonner'

export { toast }

const colours = {
  '--normal-bg': 'var(--raised)',
  '--normal-text': 'var(--fg)',
  '--normal-border': 'var(--line)',
  '--border-radius': '0.625rem',
} as CSSProperties

export function Toaster() {
  return (
    <Sonner
      position="top-center"
      closeButton
      duration={4500}
      style={colours}
      toastOptions={{
        classNames: {
          toast: '!pointer-events-auto !gap-2.5 !pr-11 !font-sans !shadow-pop',
          closeButton:
            '!top-1/2 !right-2.5 !left-auto !size-6 !-translate-y-1/2 !transform-none !border-0 !bg-transparent !text-fg-muted hover:!bg-hover hover:!text-fg',
          description: '!text-fg-muted',
          success: '[&_[data-icon]]:text-success-text',
          error: '[&_[data-icon]]:text-danger-text',
          warning: '[&_[data-icon]]:text-warning-text',
          info: '[&_[data-icon]]:text-accent-text',
        },
      }}
    />
  )
}
