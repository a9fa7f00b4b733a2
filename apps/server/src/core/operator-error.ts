/** Aborts a start or a command with one line that says what the operator can do. */
export class OperatorError extends Error {}
