/** In both databases. */
export type Flag = 0 | 1
