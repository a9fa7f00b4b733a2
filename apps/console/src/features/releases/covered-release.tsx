import type { Release } from '@keyward/contract'
import { useState } from 'react'
import { serverNow } from '../../lib/api/server-time.ts'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { newestCovered } from './release-rules.ts'

/** What a license gets whose updates end on a day. */
export function CoveredRelease({ releases }: { releases: readonly Release[] }) {
  const [date, setDate] = useState('')
  const found = date && newestCovered(releases, Date.parse(`${date}T23:59:59.999Z`), serverNow())
  return (
    <div className="grid items-end gap-3 sm:grid-cols-[auto_1fr]">
      <Field label="A license whose updates end on">
        <Input
          type="date"
          value={date}
          onChange={(event) => setDate(event.target.value)}
          className="sm:max-w-44"
        />
      </Field>
      {date && (
        <p role="status" className="min-h-9 content-center text-fg-muted">
          {found ? (
            <>
              gets <span className="font-mono text-fg">{found.version}</span>
              {found.security && ', which is a security fix'}
            </>
          ) : (
            'gets none of these versions'
          )}
        </p>
      )}
    </div>
  )
}
