import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const source = readFileSync(new URL('./probe-app.ts', import.meta.url), 'utf8')

/** A user app in the folder of a test. */
export interface UserApp {
  /** Settings with which a server loads the app. */
  readonly env: Readonly<Record<string, string>>
  /** Rewrites the app's file with `old` replaced by `text`. */
  edit(old: string, text: string): void
}

/** Writes the probe app to a folder. */
export function writeProbeApp(folder: string): UserApp {
  const file = join(folder, 'probe-app.ts')
  writeFileSync(file, source)
  return {
    env: { CAUSEWAY_USER_APPS: file },
    edit(old, text) {
      if (!source.includes(old)) throw new Error(`the probe app does not contain: ${old}`)
      writeFileSync(file, source.replaceAll(old, text))
    },
  }
}
