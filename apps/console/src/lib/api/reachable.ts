import { base } from '../navigation/base.ts'

export async function isServerReachable(): Promise<boolean> {
  const response = await fetch(`${base}/api/health`, { cache: 'no-store' }).catch(() => undefined)
  return response?.ok === true
}
