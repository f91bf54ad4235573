import { PassThrough } from 'node:stream'
import type { Machine } from '@causeway/protocol'
import type { Test } from 'tap'
import { runCommand } from '../../src/cli/run.ts'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The environment of a command: by default no settings and an empty folder. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Simulates another platform. */
  readonly machine?: Machine
  /** The reply to every prompt. Default: the command has no terminal. */
  readonly answer?: string | (() => Promise<string>)
  /** Called with the text on standard output. */
  readonly onOutput?: (text: string) => void
}

/** Runs a command of `causeway` in this process. */
export async function runHere(
  t: Test,
  argv: readonly string[],
  { env = {}, cwd = t.testdirName, machine, answer, onOutput = () => {} }: RunOptions = {},
): Promise<CommandResult> {
  const out: string[] = []
  const err: string[] = []
  const isTTY = answer !== undefined
  const stdin = Object.assign(new PassThrough(), { isTTY })
  const stderr = Object.assign(new PassThrough(), { isTTY })
  stderr.on('data', (chunk) => {
    err.push(String(chunk))
    if (!/: $/.test(String(chunk))) return
    if (typeof answer !== 'function') stdin.write(`${answer}\n`)
    else void answer().then((text) => stdin.write(`${text}\n`))
  })
  const code = await runCommand({
    argv,
    env,
    cwd,
    ...(machine !== undefined && { machine }),
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: {
      write: (text: string) => {
        onOutput(text)
        return out.push(text) > 0
      },
    },
    stderr: stderr as unknown as NodeJS.WriteStream,
  })
  // The stream emits its data in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  return { code, stdout: out.join(''), stderr: err.join('') }
}
