import { limits } from '@keyward/contract'
import { Choice } from '../../ui/choice.tsx'

export interface AppFieldsProps {
  which: 'all' | 'some'
  onWhich: (which: 'all' | 'some') => void
  apps: readonly { _id: string; name: string; appId: string }[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  error: string | undefined
}

export function AppFields({ which, onWhich, apps, chosen, onChange, error }: AppFieldsProps) {
  return (
    <div className="grid gap-2">
      <span className="font-medium" aria-hidden>
        Applications
      </span>
      <Choice
        label="Applications"
        value={which}
        onChange={onWhich}
        options={[
          { value: 'all', label: 'All, also future ones' },
          { value: 'some', label: 'Some' },
        ]}
      />
      {which === 'some' && (
        <ul
          aria-label="Applications of the key"
          className="max-h-44 divide-y overflow-y-auto rounded-lg border"
        >
          {apps.map(({ _id, name, appId }) => (
            <li key={_id}>
              <label className="flex cursor-pointer items-center gap-3 px-3 py-2">
                <input
                  type="checkbox"
                  checked={chosen.includes(_id)}
                  disabled={!chosen.includes(_id) && chosen.length >= limits.apiKeyAppsMax}
                  onChange={({ target }) =>
                    onChange(target.checked ? [...chosen, _id] : chosen.filter((one) => one !== _id))
                  }
                  className="size-4 accent-accent"
                />
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <code className="text-fg-muted text-xs">{appId}</code>
              </label>
            </li>
          ))}
        </ul>
      )}
      {which === 'some' && apps.length === 0 && <p className="text-fg-muted">You have no application yet.</p>}
      {error && (
        <p role="alert" className="text-[0.8125rem] text-danger-text">
          {error}
        </p>
      )}
    </div>
  )
}
