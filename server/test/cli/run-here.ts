/** Running a command of `causeway` in this process, as the program does. */
import { PassThrough } from 'node:stream'
import type { Test } from 'tap'
import { runCommand } from '../../src/cli/run.ts'

/** How a command ended, and what it wrote. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What a command finds around it. */
export interface Around {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** What a person at a terminal answers to every question; without it there is no terminal. */
  readonly answer?: string
}

/** Runs a command line; by default with no settings, in an empty folder. */
export async function runHere(t: Test, argv: readonly string[], around: Around = {}): Promise<Outcome> {
  const out: string[] = []
  const err: string[] = []
  const stdin = new PassThrough()
  const stderr = Object.assign(new PassThrough(), { isTTY: around.answer !== undefined })
  stderr.on('data', (chunk) => {
    err.push(String(chunk))
    if (/: $/.test(String(chunk))) stdin.write(`${around.answer}\n`)
  })
  const code = await runCommand({
    argv,
    env: around.env ?? {},
    cwd: around.cwd ?? t.testdirName,
    stdin: Object.assign(stdin, { isTTY: around.answer !== undefined }) as unknown as NodeJS.ReadStream,
    stdout: { write: (text: string) => out.push(text) > 0 },
    stderr: stderr as unknown as NodeJS.WriteStream,
  })
  // What was written is told a turn later.
  await new Promise((resolve) => setImmediate(resolve))
  return { code, stdout: out.join(''), stderr: err.join('') }
}
