import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const source = readFileSync(new URL('./probe-app.ts', import.meta.url), 'utf8')

/** A user app in a folder of the test's own. */
export interface UserApp {
  /** Settings that make a server load it. */
  readonly env: Readonly<Record<string, string>>
  /** Writes it anew with this text replaced, as its author would. */
  edit(old: string, text: string): void
}

/** Puts the probe app into a folder. */
export function writeProbeApp(folder: string): UserApp {
  const file = join(folder, 'probe-app.ts')
  writeFileSync(file, source)
  return {
    env: { CAUSEWAY_USER_APPS: file },
    edit(old, text) {
      if (!source.includes(old)) throw new Error(`the probe app does not hold: ${old}`)
      writeFileSync(file, source.replaceAll(old, text))
    },
  }
}
