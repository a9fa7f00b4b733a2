/** The version of the SDKs that this server serves below `/sdk/`. */
export const sdkVersion = '1.6.0'
