/** When an activation file ends; null for never. Its activation may say later: an earlier file can last longer. */
export function endOfFile(file: string): string | null {
  const [, claims = ''] = file.split('.')
  const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number | null }
  return exp === null ? null : new Date(exp * 1000).toISOString()
}
