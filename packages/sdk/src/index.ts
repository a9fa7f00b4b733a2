export {
  KeywardError,
  KeywardNetworkError,
  KeywardSignatureError,
  KeywardUsageError,
  type NetworkErrorCode,
  type SignatureErrorCode,
  type UsageErrorCode,
} from './errors.ts'
export { Keyward } from './keyward.ts'
export type {
  Credentials,
  DeviceUse,
  Fetch,
  FetchResponse,
  Granted,
  InitData,
  KeywardOptions,
  LicenseState,
  PublicJwk,
  Refused,
  Registration,
  Result,
  SessionUser,
  Upgrade,
  UserData,
  ValidateData,
  ValidatedLicense,
} from './types.ts'
