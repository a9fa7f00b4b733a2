import { type KeyboardEvent, useEffect, useState } from 'react'
import type { Command } from './commands.ts'

const step: Record<string, (index: number, count: number) => number> = {
  ArrowDown: (index, count) => (index + 1) % count,
  ArrowUp: (index, count) => (index - 1 + count) % count,
  PageDown: (index, count) => Math.min(index + 5, count - 1),
  PageUp: (index) => Math.max(index - 5, 0),
}

/** Tracks the active option: the first one, unless the user selected another that is still listed. */
export function useOptions(options: readonly Command[], text: string, onRun: (command: Command) => void) {
  const [chosen, setChosen] = useState<{ id: string; text: string }>()
  const present = options.find(({ id }) => chosen?.text === text && id === chosen.id)
  const active = present ?? options[0]

  useEffect(() => {
    if (active) document.getElementById(optionId(active))?.scrollIntoView({ block: 'nearest' })
  }, [active])

  return {
    active,
    choose: (command: Command) => setChosen({ id: command.id, text }),
    onKeyDown(event: KeyboardEvent) {
      if (event.nativeEvent.isComposing || !active) return
      if (event.key === 'Enter') {
        event.preventDefault()
        onRun(active)
        return
      }
      const move = step[event.key]
      if (!move || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
      event.preventDefault()
      const next = options[move(options.indexOf(active), options.length)]
      if (next) setChosen({ id: next.id, text })
    },
  }
}

export const optionId = ({ id }: Command) => `command-${id}`
