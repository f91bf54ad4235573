// The server declares the same type, because `protocol` contains only what is sent between processes.

export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly fix?: string
}

export const ok = (name: string, text: string): Check => ({ name, state: 'ok', text })
export const warn = (name: string, text: string, fix: string): Check => ({ name, state: 'warn', text, fix })
export const fail = (name: string, text: string, fix: string): Check => ({ name, state: 'fail', text, fix })

export const formatCheck = ({ name, state, text, fix }: Check): string =>
  `${state.padEnd(5)} ${name.padEnd(12)} ${text}\n${fix === undefined ? '' : `${' '.repeat(19)}-> ${fix}\n`}`
