import { wire } from '../../lib/api/wire.ts'

/** The call that adds a license to an end user, and what the vendor needs besides it. */
export const attaching = [wire.clients.addLicense, wire.licenses.update, wire.clients.list]
