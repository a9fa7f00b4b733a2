import { limits, unlimited } from '@keyward/contract'
import type { ClientRow, LicenseRow } from '../../db/tables.ts'

/** What a key allows besides its time: features, and a number of devices or of seats. */
export type Rights = Pick<LicenseRow, 'devices' | 'seats' | 'seat_timeout_seconds' | 'features'>

/** What the keys that `upgrade` added allow together; all null without any. */
export type AddedRights = Pick<
  ClientRow,
  'added_features' | 'added_devices' | 'added_seats' | 'added_seat_timeout'
>

export const noAddedRights: AddedRights = {
  added_features: null,
  added_devices: null,
  added_seats: null,
  added_seat_timeout: null,
}

const sizeOf = ({ devices, seats }: Rights): number =>
  seats ?? (devices === unlimited ? Number.POSITIVE_INFINITY : devices)

/** The features of both, and the larger number, be it of devices or of seats; never the sum. */
function combine(one: Rights, other: Rights): Rights {
  const larger = sizeOf(other) > sizeOf(one) ? other : one
  if (other.features === '[]' || other.features === one.features) return { ...larger, features: one.features }
  const names = new Set<string>([...JSON.parse(one.features), ...JSON.parse(other.features)])
  return { ...larger, features: JSON.stringify([...names].slice(0, limits.endUserFeaturesMax)) }
}

/** What added keys allow together, in the columns of their end user. */
export function toAddedRights(keys: readonly Rights[]): AddedRights {
  const [first, ...others] = keys
  if (!first) return noAddedRights
  const all = others.reduce(combine, first)
  return {
    added_features: all.features,
    added_devices: all.devices,
    added_seats: all.seats,
    added_seat_timeout: all.seat_timeout_seconds,
  }
}

/** What an end user may do: the rights of the first license and of the added keys; null without any key. */
export function rightsOf<First extends Rights>(
  first: First | null | undefined,
  added: Partial<AddedRights>,
): Rights | null {
  const { added_features: features, added_devices: devices, added_seats: seats } = added
  if (features == null || devices == null) return first ?? null
  const seatTimeout = added.added_seat_timeout ?? 0
  // Seats are counted on the first license.
  if (!first) return { features, devices, seats: null, seat_timeout_seconds: seatTimeout }
  return combine(first, { features, devices, seats: seats ?? null, seat_timeout_seconds: seatTimeout })
}
