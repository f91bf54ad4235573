import { constants } from 'node:os'

/** Ends the command with an exit code; the message, if any, is the one sentence the user sees. */
export class Exit extends Error {
  /** @param {number} code  @param {string} [message] */
  constructor(code, message) {
    super(message ?? '')
    this.code = code
  }
}

/**
 * The exit code of an ended child, as a shell reports it: its own, or 128 plus the number of the signal that killed it.
 *
 * @type {(code: number | null, signal: NodeJS.Signals | null) => number}
 */
export function exitCode(code, signal) {
  return signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0)
}
