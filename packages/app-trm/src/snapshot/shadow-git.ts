import { spawn } from 'node:child_process'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'

/** How a command of git is run. */
export interface GitOptions {
  readonly input?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** A descriptor that gets standard output instead of the caller. */
  readonly stdout?: number | undefined
}

/** A git repository of our own: no configuration but its own, no hooks, no filters, no user. */
export interface ShadowGit {
  readonly folder: string
  run(args: readonly string[], options?: GitOptions): Promise<Buffer>
  /** The same, or undefined where git fails. */
  attempt(args: readonly string[], options?: GitOptions): Promise<Buffer | undefined>
}

/** Precedence over every `.gitattributes`: bytes stay what they are. */
const attributes = '* -text -ident -filter -working-tree-encoding\n'

/** The shadow repository in a folder of its own, which is made when it is first used. */
export function shadowGit(folder: string, log: Pick<Log, 'debug'>): ShadowGit {
  let made: Promise<void> | undefined
  const command = async (args: readonly string[], options: GitOptions = {}) => {
    const started = performance.now()
    const answer = await runGit(args, { ...options, env: { ...environment(folder), ...options.env } })
    log.debug({ git: args[0], ms: Math.round(performance.now() - started), bytes: answer.length }, 'ran git')
    return answer
  }
  const make = async () => {
    await mkdir(join(folder, 'info'), { recursive: true, mode: 0o700 })
    if (!(await isThere(join(folder, 'HEAD'))))
      await command(['init', '--bare', '--quiet', '--template=', folder])
    await writeFile(join(folder, 'info', 'attributes'), attributes, { mode: 0o600 })
  }
  const run: ShadowGit['run'] = async (args, options) => {
    made ??= make()
    await made.catch((error) => {
      made = undefined
      throw error
    })
    return command(args, options)
  }
  return {
    folder,
    run: (args, options) =>
      run(args, options).catch((error) => {
        // Asked about a project, git may stumble over the project.
        const isOurs =
          options?.env?.GIT_WORK_TREE === undefined || /not a git repository/i.test(String(error))
        throw error instanceof GitFailure && isOurs ? shadowFailure(error) : error
      }),
    attempt: (args, options) => run(args, options).catch((error) => ignoreFailure(error)),
  }
}

/** Flags that keep what a project configures from running: it is only ever asked what it tracks. */
export const harmless: readonly string[] = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']

/** The variables of every git command; nothing of the server's own environment but the search path. */
function environment(home: string): Record<string, string> {
  const identity = { NAME: 'Causeway', EMAIL: 'causeway@localhost', DATE: '2000-01-01T00:00:00Z' }
  return {
    PATH: process.env.PATH ?? '',
    LC_ALL: 'C',
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_DIR: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    ...Object.fromEntries(
      Object.entries(identity).flatMap(([name, value]) => [
        [`GIT_AUTHOR_${name}`, value],
        [`GIT_COMMITTER_${name}`, value],
      ]),
    ),
    GIT_CONFIG_COUNT: '6',
    GIT_CONFIG_KEY_0: 'core.autocrlf',
    GIT_CONFIG_VALUE_0: 'false',
    GIT_CONFIG_KEY_1: 'core.hooksPath',
    GIT_CONFIG_VALUE_1: '/dev/null',
    GIT_CONFIG_KEY_2: 'core.compression',
    GIT_CONFIG_VALUE_2: '1',
    GIT_CONFIG_KEY_3: 'gc.auto',
    GIT_CONFIG_VALUE_3: '0',
    GIT_CONFIG_KEY_4: 'core.precomposeUnicode',
    GIT_CONFIG_VALUE_4: 'false',
    // Files are 0600 and folders 0700, whatever the umask.
    GIT_CONFIG_KEY_5: 'core.sharedRepository',
    GIT_CONFIG_VALUE_5: '0600',
  }
}

/** Runs git. Throws `SNAPSHOT_UNAVAILABLE` if it is not installed, `WORKER_LOST` if it was killed, `GitFailure` if it fails. */
function runGit(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { input, env, cwd, signal, stdout } = options
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...args], {
      stdio: ['pipe', stdout ?? 'pipe', 'pipe'],
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      ...(signal === undefined ? {} : { signal }),
    })
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk))
    // A command that fails early reads nothing: its exit code tells why.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input ?? '')
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      reject(isMissing ? new CausewayError('SNAPSHOT_UNAVAILABLE', 'git is not in the search path') : error)
    })
    child.on('close', (code, signalName) => {
      if (signalName !== null) {
        reject(new CausewayError('WORKER_LOST', `git was ended by ${signalName}`, { remedy: 'call again' }))
        return
      }
      const said = Buffer.concat(err).toString().trim().slice(0, 500)
      if (code === 0) resolve(Buffer.concat(out))
      else reject(new GitFailure(`git ${args[0]} failed with ${code}: ${said}`))
    })
  })
}

/** A command of git that ran and failed. */
class GitFailure extends Error {}

/** What it means that git failed on a repository that nobody but us has written. */
function shadowFailure(error: GitFailure): CausewayError {
  const isUnwritable = /no space left|quota exceeded|file too large|permission denied|read-only/i.test(
    error.message,
  )
  const data = { file: 'trm/shadow.git' }
  if (isUnwritable)
    return new CausewayError('DATA_UNWRITABLE', 'the snapshots cannot be written: trm/shadow.git', {
      data,
      cause: error,
    })
  return new CausewayError('DATA_DAMAGED', 'the snapshots are damaged: trm/shadow.git', {
    remedy:
      'restore the data folder from a backup, or move trm/shadow.git away: new snapshots work then, and earlier steps cannot be taken back',
    data,
    cause: error,
  })
}

function ignoreFailure(error: unknown): undefined {
  if (error instanceof GitFailure) return undefined
  throw error
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** True where git can be run now. */
export const hasGit = (): Promise<boolean> =>
  runGit(['--version'], { env: { PATH: process.env.PATH ?? '' } }).then(
    () => true,
    () => false,
  )
