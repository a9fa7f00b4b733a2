import type { ImportField, ImportMapping } from '../imports.ts'

/** Names of columns in files of known systems and in lists that people keep, without anything but letters. */
const known: Record<ImportField, readonly string[]> = {
  key: [
    ...[
      'key',
      'licensekey',
      'licencekey',
      'license',
      'licence',
      'serial',
      'serialnumber',
      'activationkey',
      'code',
    ],
    ...['attributeskey', 'licenselicensekey', 'lizenz', 'lizenzschluessel', 'productkey', 'orderkey'],
  ],
  type: [
    'type',
    'licensetype',
    'plan',
    'product',
    'productshortcode',
    'level',
    'subscription',
    'tier',
    'edition',
  ],
  status: [
    ...['status', 'state', 'licensestatus', 'attributesstatus', 'banned', 'isbanned', 'suspended', 'revoked'],
    ...[
      'blocked',
      'disabled',
      'isdisabled',
      'active',
      'isactive',
      'enabled',
      'isenabled',
      'valid',
      'isvalid',
    ],
    ...['gesperrt', 'aktiv', 'used', 'isused', 'redeemed', 'activated'],
  ],
  banReason: ['banreason', 'reason'],
  duration: [
    'duration',
    'days',
    'validitydays',
    'expirationdays',
    'durationdays',
    'licensevalidityperiod',
    'length',
  ],
  endsAt: [
    ...[
      'expiresat',
      'expiry',
      'expires',
      'expirydate',
      'expirationdate',
      'expiration',
      'expiredate',
      'validuntil',
    ],
    ...[
      'endsat',
      'enddate',
      'end',
      'attributesexpiry',
      'licensevalidityend',
      'until',
      'ablauf',
      'gueltigbis',
    ],
  ],
  note: [
    'note',
    'notes',
    'comment',
    'comments',
    'description',
    'licensenote',
    'name',
    'memo',
    'customername',
  ],
  usedBy: ['usedby', 'assignedto', 'redeemedby', 'owner'],
  devicesMax: [
    ...[
      'devicesmax',
      'maxdevices',
      'hwidlimit',
      'maxmachines',
      'attributesmaxmachines',
      'allowedactivations',
    ],
    ...['maxactivations', 'activationlimit', 'seats', 'licensemaxactivations', 'devices'],
  ],
  device: ['device', 'hwid', 'hardwareid', 'fingerprint', 'machineid', 'machine', 'deviceid', 'hwids'],
  reference: ['reference', 'order', 'orderid', 'ordernumber', 'id', 'ordercode', 'orderordercode', 'invoice'],
  username: ['username', 'user', 'login', 'account', 'benutzer', 'benutzername'],
  password: ['password', 'passwordhash', 'hash', 'bcrypt'],
  email: ['email', 'emailaddress', 'mail', 'customeremail', 'useremail', 'owneremail'],
}

/** The columns that are probably meant, each for one field: the first name of a field that a column has. */
export function suggestMapping(columns: readonly string[]): ImportMapping {
  const letters = new Map<string, string>()
  for (const column of columns) {
    const plain = column
      .toLowerCase()
      .replace(/ü/g, 'ue')
      .replace(/[^a-z]/g, '')
    if (plain !== '' && !letters.has(plain)) letters.set(plain, column)
  }
  const taken = new Set<string>()
  const mapping: ImportMapping = {}
  for (const [field, names] of Object.entries(known) as [ImportField, readonly string[]][]) {
    const column = names
      .map((name) => letters.get(name))
      .find((found) => found !== undefined && !taken.has(found))
    if (column === undefined) continue
    taken.add(column)
    mapping[field] = column
  }
  return mapping
}
