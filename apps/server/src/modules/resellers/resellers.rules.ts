/** What is left of a quota; a limit that was lowered below what exists leaves nothing. */
export const remainingLicenses = (reseller: {
  allowed_license_keys: number
  license_count: number
}): number => Math.max(0, reseller.allowed_license_keys - reseller.license_count)
