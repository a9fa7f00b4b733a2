/** The address of the page of an app for its customers, below the address of a server. */
export const customerPageAddress = (server: string, appId: string): string => `${server}/u/${appId}`
