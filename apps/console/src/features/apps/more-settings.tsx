import type { App } from '@keyward/contract'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Switch } from '../../ui/switch.tsx'

type Settings = App['settings']

interface Props {
  settings: Settings
  onChange: (change: Partial<Settings>) => void
}

/** Settings that most apps keep at their defaults, in collapsed groups. */
export function MoreSettings({ settings, onChange }: Props) {
  return (
    <Group title="Devices">
      <Switch
        label="Require a Hardware ID"
        description="Programs that send no hardware ID are rejected, even while the lock is off."
        checked={settings.requireHwid}
        onChange={(requireHwid) => onChange({ requireHwid })}
      />
    </Group>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="group">
      <summary className="flex cursor-pointer list-none items-center gap-1.5 rounded-md font-medium [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="size-4 text-fg-muted transition-transform group-open:rotate-90"
        />
        {title}
      </summary>
      <div className="mt-4 grid gap-5">{children}</div>
    </details>
  )
}
