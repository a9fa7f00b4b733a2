/** What DATABASE_URL says about where the database is, and how connections to it are protected. */
export interface DatabaseAddress {
  /** The address of each host, in order, without the parameters below. */
  urls: string[]
  /** Undefined if the address says nothing about it. */
  tls: { mode: TlsMode; rootCertificate?: string; certificate?: string; key?: string } | undefined
  /** Whether only a host that accepts writes is used. */
  needsWrites: boolean
}

type TlsMode = 'disable' | 'no-verify' | 'verify-ca' | 'verify-full'
/** `prefer` and `require` have always verified the server here: they must not become weaker by an update. */
const modesOf: Readonly<Record<string, TlsMode>> = {
  disable: 'disable',
  'no-verify': 'no-verify',
  prefer: 'verify-full',
  require: 'verify-full',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify-full',
}
const sessionKinds = ['any', 'read-write']
const parts = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^@/?#]*)(\/[^?#]*)?(\?[^#]*)?$/
const hostsMost = 8

/** Reads DATABASE_URL, or says what is wrong with it, without its password. */
export function readDatabaseAddress(text: string): DatabaseAddress | string {
  const [, scheme, user, hosts, path = '', query = ''] = parts.exec(text) ?? []
  const notAnAddress =
    'must be an address such as postgres://user:password@host, with a percent-encoded password'
  if (scheme === undefined || user === undefined || hosts === undefined) return notAnAddress
  const names = hosts.split(',')
  if (names.length > hostsMost) return `has more than ${hostsMost} hosts`
  if (names.length > 1 && names.includes('')) return 'has an empty host in its list of hosts'
  const parameters = new URLSearchParams(query)
  const kind = parameters.get('target_session_attrs')
  const sslMode = parameters.get('sslmode')
  const rootCertificate = parameters.get('sslrootcert') ?? undefined
  const [certificate, key] = ['sslcert', 'sslkey'].map((name) => parameters.get(name) ?? undefined)
  if (kind !== null && !sessionKinds.includes(kind))
    return `has a target_session_attrs that is neither ${sessionKinds.join(' nor ')}`
  if (sslMode !== null && !Object.hasOwn(modesOf, sslMode))
    return `has an sslmode that is none of ${Object.keys(modesOf).join(', ')}`
  if (sslMode === 'verify-ca' && rootCertificate === undefined)
    return 'has sslmode=verify-ca without sslrootcert, the file of the authority to trust'
  const mode = modesOf[sslMode ?? (rootCertificate === undefined ? '' : 'verify-full')]
  for (const name of ['target_session_attrs', ...(mode ? ['sslmode', ...files] : [])]) parameters.delete(name)
  const rest = parameters.size === new URLSearchParams(query).size ? query : toQuery(parameters)
  const urls = names.map((name) => `${scheme}${user}${name}${path}${rest}`)
  if (!urls.every((url) => URL.canParse(url))) return notAnAddress
  return {
    urls,
    tls: mode && {
      mode,
      ...(rootCertificate !== undefined && { rootCertificate }),
      ...(certificate !== undefined && { certificate }),
      ...(key !== undefined && { key }),
    },
    needsWrites: kind === null ? names.length > 1 : kind === 'read-write',
  }
}

const files = ['sslrootcert', 'sslcert', 'sslkey']
const toQuery = (parameters: URLSearchParams) => (parameters.size === 0 ? '' : `?${parameters}`)
