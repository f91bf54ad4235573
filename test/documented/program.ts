import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { cleanEnv } from '../e2e/server-process.ts'
import { repository } from '../tree.ts'

/** A server process that was started by a shell command. */
export interface StartedServer {
  /** `http://127.0.0.1:41234` */
  readonly url: string
  /** Sends SIGTERM to the command and returns its log when all of its processes have exited. */
  stop(): Promise<string>
}

/** The output and exit code of a shell command. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Timeout of a start, which may include a compilation while other tests run. */
const startTimeoutMs = 120_000

/** Runs shell commands in the checkout until they exit. `env` is added to the environment of the test. */
export async function run(
  t: Test,
  commands: string,
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<CommandResult> {
  const child = shell(t, commands, env)
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  // A program may exit without reading its input.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Runs a shell command that starts a server, and waits until the server is ready. The server is killed when the test ends. */
export async function start(t: Test, commands: string, env: NodeJS.ProcessEnv): Promise<StartedServer> {
  const child = shell(t, `exec ${commands}`, env)
  const closed = once(child, 'close')
  let log = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`not ready in ${startTimeoutMs} ms:\n${log}`)),
      startTimeoutMs,
    )
    child.stderr?.on('data', (chunk) => {
      log += chunk
      const ready = /"url":"(http:[^"]+)\/mcp".*"Causeway is ready"/.exec(log)?.[1]
      if (ready === undefined) return
      clearTimeout(timer)
      resolve(ready)
    })
    child.once('close', () => {
      clearTimeout(timer)
      reject(new Error(`exited before it was ready:\n${log}`))
    })
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await closed
      return log
    },
  }
}

/** Starts a shell in a new process group. The group is killed when the test ends. */
function shell(t: Test, commands: string, env: NodeJS.ProcessEnv): ChildProcess {
  // The test runner preloads its modules into every Node process that a test spawns; a user's shell does not.
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
      // The group has already exited.
    }
  })
  return child
}
