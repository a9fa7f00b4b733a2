/** Prefixes that no other software uses for its variables. */
const ownPrefixes = [
  'KEYWARD_',
  'RAZORPAY_',
  'RATE_LIMIT',
  'TRUST_PROX',
  'PASSWORD_POLIC',
  'PRICE_MONTH',
  'PRICE_YEAR',
]

/** Read by SDK programs and by `keyward mcp`, which may share an environment with the server. */
const ofPrograms =
  /^KEYWARD_(BASE_URL|APP_ID|SECRET|PUBLIC_KEYS|HWID|CONFIG|URL|(API_KEY|MCP_TOKEN)(_FILE)?)$/

/** Kubernetes and Docker set these in every container next to a service named `keyward`. */
const ofServices = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/
const serviceAddress = /^(tcp|udp|sctp):\/\//

/** Used by other software and too similar to one of our names. */
const ofOthers = new Set(['LOGLEVEL'])

/** Finds variables that look like misspelled Keyward variables; returns one line for each. */
export function findMisspelled(
  environment: Record<string, string | undefined>,
  known: readonly string[],
): string[] {
  const names = new Set(known)
  return Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === '' || names.has(name) || ofOthers.has(name)) return []
    if (ofPrograms.test(name) || ofServices.test(name) || serviceAddress.test(value)) return []
    const isOurs = ownPrefixes.some((prefix) => name.startsWith(prefix))
    const bare = name.replace(/^KEYWARD_/, '')
    const suggestion = nearest(bare, known, isOurs)
    // If the correct name is set too, the similar one belongs to other software.
    if (suggestion === undefined ? !isOurs : environment[suggestion]) return []
    const hint = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
    return [`${name}: is not a variable of Keyward${hint}`]
  })
}

function nearest(name: string, known: readonly string[], isOurs: boolean): string | undefined {
  return known
    .filter((each) => Math.abs(each.length - name.length) <= allowedDistance(each, isOurs))
    .map((each) => ({ each, distance: editDistance(name, each), allowed: allowedDistance(each, isOurs) }))
    .filter(({ distance, allowed }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)[0]?.each
}

/** Short names are similar to unrelated ones: PORT and SORT, HOST and HOSTS. */
function allowedDistance(name: string, isOurs: boolean): number {
  if (isOurs) return name.length < 8 ? 0 : 3
  if (name.length < 8) return -1
  return name.length === 8 ? 1 : 2
}

/** Damerau-Levenshtein distance: letters to insert, remove, replace or swap with their neighbor. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const [above, before] = [rows[i - 1]!, rows[i - 2]]
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      const steps = [above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + cost]
      if (before && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps.push(before[j - 2]! + 1)
      row.push(Math.min(...steps))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
