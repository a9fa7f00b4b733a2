/** The remaining quota; 0 when the limit was lowered below the existing licenses. */
export const remainingLicenses = (reseller: {
  allowed_license_keys: number
  license_count: number
}): number => Math.max(0, reseller.allowed_license_keys - reseller.license_count)
