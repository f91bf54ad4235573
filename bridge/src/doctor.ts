import { checkLine } from './doctor/check.ts'
import { clientLines, type Started } from './doctor/client-lines.ts'
import { examine } from './doctor/examine.ts'
import type { Settings } from './settings.ts'
import { version } from './version.ts'

interface Parts {
  readonly started: Started
  /** Where the debug log stands. */
  readonly debugLog: string
  readonly print: (text: string) => void
}

/** Prints what was found and how to connect a client; gives the exit code, 1 where something has failed. */
export async function runDoctor(settings: Settings, { started, debugLog, print }: Parts): Promise<0 | 1> {
  print(`causeway-bridge ${version}, Node ${process.versions.node}\n\n`)
  let failures = 0
  for await (const check of examine(settings, { debugLog, env: started.env })) {
    print(checkLine(check))
    if (check.state === 'fail') failures += 1
  }
  print(`\n${clientLines(started)}`)
  print(failures === 0 ? '\nEverything needed works.\n' : `\n${failures} to mend, see -> above.\n`)
  return failures === 0 ? 0 : 1
}
