import type { License } from '@keyward/contract'
import { useApp } from '../../lib/api/apps.ts'
import { Badge } from '../../ui/badge.tsx'

/** Says that a license is of a test order, and whether its app stops it. */
export function TestBadge({ license }: { license: License }) {
  const { app } = useApp(license.app._id)
  if (app?.settings.testLicenses !== false) return <Badge>Test</Badge>
  return <Badge tone="danger">Test: stopped</Badge>
}
