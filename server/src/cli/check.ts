/** One thing that the doctor looked at. */
export interface Check {
  /** What was looked at, in a word or two. */
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  /** What was found. */
  readonly text: string
  /** What to do about it; only where something is to be done. */
  readonly fix?: string
}

export const ok = (name: string, text: string): Check => ({ name, state: 'ok', text })
export const warn = (name: string, text: string, fix: string): Check => ({ name, state: 'warn', text, fix })
export const fail = (name: string, text: string, fix: string): Check => ({ name, state: 'fail', text, fix })

/** A check as a person reads it: one line, and one more for what to do. */
export const checkLine = ({ name, state, text, fix }: Check): string =>
  `${state.padEnd(5)} ${name.padEnd(12)} ${text}${fix === undefined ? '' : `\n${' '.repeat(19)}-> ${fix}`}`
