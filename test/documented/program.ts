import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { cleanEnv } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'

/** A server process that was started by a shell command. */
export interface Served {
  /** `http://127.0.0.1:41234` */
  readonly url: string
  /** Sends SIGTERM to the program that was typed, and gives all that was logged once nothing of it runs any more. */
  stop(): Promise<string>
}

/** What a shell command printed, and how it ended. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** How long a server may take: it may have to compile first, beside other tests. */
const startMs = 120_000

/** Runs shell text in the checkout, with these variables beside those of the test, until it ends. */
export async function run(t: Test, commands: string, env: NodeJS.ProcessEnv, input = ''): Promise<Ran> {
  const child = shell(t, commands, env)
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  // A program may end without reading what it is given.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Runs shell text that starts a server, until the server says that it is ready; the test ends it. */
export async function start(t: Test, commands: string, env: NodeJS.ProcessEnv): Promise<Served> {
  const child = shell(t, `exec ${commands}`, env)
  const closed = once(child, 'close')
  let logged = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready in ${startMs} ms:\n${logged}`)), startMs)
    child.stderr?.on('data', (chunk) => {
      logged += chunk
      const ready = /"url":"(http:[^"]+)\/mcp".*"Causeway is ready"/.exec(logged)?.[1]
      if (ready === undefined) return
      clearTimeout(timer)
      resolve(ready)
    })
    child.once('close', () => {
      clearTimeout(timer)
      reject(new Error(`ended before it was ready:\n${logged}`))
    })
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await closed
      return logged
    },
  }
}

/** A shell in a process group of its own, whose whole group ends with the test whatever happened. */
function shell(t: Test, commands: string, env: NodeJS.ProcessEnv): ChildProcess {
  // The test runner makes every Node that a test spawns preload its own modules; a user's shell does not.
  const child = spawn('sh', ['-e', '-c', `unset NODE_OPTIONS\n${commands}`], {
    cwd: repository,
    env: { ...cleanEnv(), npm_config_update_notifier: 'false', ...env },
    stdio: 'pipe',
    detached: true,
  })
  t.teardown(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // The group has ended, as it should.
    }
  })
  return child
}
