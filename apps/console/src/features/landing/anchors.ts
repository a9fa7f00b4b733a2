/** The anchor of the prices on the landing page. */
export const pricesId = 'pricing'
