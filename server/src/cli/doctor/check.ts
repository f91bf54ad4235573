export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly fix?: string
}

export const ok = (name: string, text: string): Check => ({ name, state: 'ok', text })
export const warn = (name: string, text: string, fix: string): Check => ({ name, state: 'warn', text, fix })
export const fail = (name: string, text: string, fix: string): Check => ({ name, state: 'fail', text, fix })
