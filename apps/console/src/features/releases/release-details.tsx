import type { Release } from '@keyward/contract'
import { May } from '../../lib/api/rights.tsx'
import { wire } from '../../lib/api/wire.ts'
import { formatBytes } from './format-bytes.ts'
import { ReleaseExposure } from './release-exposure.tsx'
import { ReleaseNotes } from './release-notes.tsx'
import { SafeLink } from './safe-link.tsx'

/** What is new, what it fixes, and the files of a release. */
export function ReleaseDetails({ release }: { release: Release }) {
  const { notes, security, artifacts, updatesFrom, build } = release
  const further = [updatesFrom && `Updates from ${updatesFrom} on.`, build && `Build ${build}.`].filter(
    Boolean,
  )
  return (
    <div className="grid min-w-0 basis-full gap-3 rounded-lg bg-sunken p-3">
      {security && (
        <div className="grid gap-1">
          <p className="wrap-anywhere">
            <strong>Security fix:</strong> {security.summary}
          </p>
          <p className="text-[0.8125rem] text-fg-muted">
            {security.affects.length === 0
              ? 'No affected versions are named.'
              : `Affected: ${security.affects.map(rangeText).join(', ')}.`}
          </p>
          {security.advisory && <SafeLink link={security.advisory} />}
        </div>
      )}
      {security && (
        <May call={wire.exposure.get}>
          <ReleaseExposure release={release} />
        </May>
      )}
      {notes && <ReleaseNotes notes={notes} />}
      {further.length > 0 && <p className="text-[0.8125rem] text-fg-muted">{further.join(' ')}</p>}
      {artifacts.length > 0 && (
        <ul aria-label={`Files of ${release.version}`} className="grid gap-2">
          {artifacts.map(({ platform, architecture, kind, name, url, size, sha512 }) => (
            <li key={`${platform}/${architecture}/${kind}/${name}`} className="grid min-w-0 gap-0.5">
              <span className="wrap-anywhere">
                <bdi>{name}</bdi>{' '}
                <span className="text-[0.8125rem] text-fg-muted">
                  {platform}, {architecture}, {kind}, {formatBytes(size)}
                </span>
              </span>
              <SafeLink link={url} />
              <span title={sha512} className="truncate font-mono text-fg-muted text-xs">
                SHA-512 {sha512}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const rangeText = ({ from, before }: { from: string | null; before: string | null }): string => {
  if (from === null) return before === null ? 'all versions' : `before ${before}`
  return before === null ? `${from} and newer` : `${from} to before ${before}`
}
