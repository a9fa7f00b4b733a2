/** Why the server pauses a webhook. */
export const pauseReasons = ['failing', 'maker_gone', 'full'] as const
export type PauseReason = (typeof pauseReasons)[number]
