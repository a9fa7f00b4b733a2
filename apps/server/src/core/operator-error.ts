/** What keeps a start or a command from going on, in one line that says what the operator can do about it. */
export class OperatorError extends Error {}
