import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, isAbsolute, join, sep } from 'node:path'
import type { Log } from '@causeway/app-kit'
import type { CausewayError } from '@causeway/protocol'
import { StoreError } from '@causeway/store'
import { WorkerError } from '@causeway/worker'
import { TrmError } from '../errors.ts'

interface GitOptions {
  readonly input?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
}

/** Overrides every `.gitattributes`, so that git does not change bytes. */
const attributes = '* -text -ident -filter -working-tree-encoding\n'

/** The server's own git repository, created at the first use: no other configuration, no hooks, no filters. */
export class ShadowGit {
  readonly folder: string
  readonly #log: Pick<Log, 'debug'>
  #created: Promise<void> | undefined
  readonly #running = new Set<Promise<Buffer>>()
  #unlocking: Promise<void> | undefined
  /** Git programs that were run once. */
  readonly #working = new Set<string>()

  constructor(folder: string, log: Pick<Log, 'debug'>) {
    this.folder = folder
    this.#log = log
  }

  /** Whether git is in `PATH`, which may change. */
  async isInstalled(): Promise<boolean> {
    const program = await findProgram('git')
    if (program === undefined || this.#working.has(program)) return program !== undefined
    try {
      await runGit(['--version'], { env: { PATH: process.env.PATH ?? '' } })
      this.#working.add(program)
      return true
    } catch {
      return false
    }
  }

  /** Throws `DATA_UNWRITABLE` or `DATA_DAMAGED` if git fails on this repository. */
  async run(args: readonly string[], options?: GitOptions): Promise<Buffer> {
    try {
      return await this.#execute(args, options)
    } catch (error) {
      // A command about a project may fail because of the project.
      const isOwn = options?.env?.GIT_WORK_TREE === undefined || /not a git repository/i.test(String(error))
      throw error instanceof GitFailure && isOwn ? toStoreError(error) : error
    }
  }

  /** Returns `undefined` if git fails. */
  async attempt(args: readonly string[], options?: GitOptions): Promise<Buffer | undefined> {
    try {
      return await this.#execute(args, options)
    } catch (error) {
      if (error instanceof GitFailure) return undefined
      throw error
    }
  }

  /** Starts a command that reads requests from its standard input. */
  async start(args: readonly string[]): Promise<ChildProcessWithoutNullStreams> {
    await this.#ensureCreated()
    return spawn('git', [...args], { stdio: 'pipe', env: createGitEnvironment(this.folder) })
  }

  async #ensureCreated(): Promise<void> {
    this.#created ??= this.#create()
    try {
      await this.#created
    } catch (error) {
      this.#created = undefined
      throw error
    }
  }

  async #execute(args: readonly string[], options?: GitOptions): Promise<Buffer> {
    await this.#ensureCreated()
    try {
      return await this.#spawn(args, options)
    } catch (error) {
      const lock = error instanceof GitFailure ? this.#findLock(error.message) : undefined
      if (lock === undefined) throw error
      this.#unlocking ??= this.#unlock(lock)
      await this.#unlocking
      return this.#spawn(args, options)
    }
  }

  async #create(): Promise<void> {
    const has = (name: string) => exists(join(this.folder, name))
    const isStored = (await has('refs/snapshots')) || (await has('packed-refs'))
    const isComplete = (await has('HEAD')) && (isStored || ((await has('objects')) && (await has('refs'))))
    if (!isComplete && isStored) await this.#initialize(this.folder)
    else if (!isComplete) {
      // A git that is killed leaves part of a repository, so only a complete one gets the final name.
      const draft = `${this.folder}.new`
      await rm(draft, { recursive: true, force: true })
      await this.#initialize(draft)
      await rm(this.folder, { recursive: true, force: true })
      await rename(draft, this.folder)
    }
    const info = join(this.folder, 'info')
    await mkdir(info, { recursive: true, mode: 0o700 })
    await writeFile(join(info, 'attributes'), attributes, { mode: 0o600 })
  }

  async #initialize(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await this.#spawn(['init', '--bare', '--quiet', '--template=', folder], { env: { GIT_DIR: folder } })
  }

  /** Returns the lock of this repository that made a command fail. */
  #findLock(message: string): string | undefined {
    const lock = /Unable to create '([^']+\.lock)': File exists/.exec(message)?.[1]
    return lock?.startsWith(this.folder + sep) ? lock : undefined
  }

  /** Only this object runs git here. If no command runs, a killed git left the lock. */
  async #unlock(lock: string): Promise<void> {
    await Promise.allSettled(this.#running)
    await rm(lock, { force: true })
    this.#unlocking = undefined
    this.#log.debug({ lock }, 'removed the lock of a killed git')
  }

  async #spawn(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
    await this.#unlocking
    const started = performance.now()
    const running = runGit(args, {
      ...options,
      env: { ...createGitEnvironment(this.folder), ...options.env },
    })
    this.#running.add(running)
    const output = await running.finally(() => this.#running.delete(running))
    const ms = Math.round(performance.now() - started)
    this.#log.debug({ git: args[0], ms, bytes: output.length }, 'ran git')
    return output
  }
}

const gitConfig: Readonly<Record<string, string>> = {
  'core.autocrlf': 'false',
  'core.hooksPath': '/dev/null',
  'core.compression': '1',
  'gc.auto': '0',
  'core.precomposeUnicode': 'false',
  // Files are 0600 and folders 0700, regardless of the umask.
  'core.sharedRepository': '0600',
}

/** The environment of git; of the server's environment it contains only `PATH`. */
function createGitEnvironment(home: string): Record<string, string> {
  const identity = { NAME: 'Causeway', EMAIL: 'causeway@localhost', DATE: '2000-01-01T00:00:00Z' }
  const entries = Object.entries(gitConfig)
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
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

/** A git command that ran and failed. */
class GitFailure extends Error {}

/** Throws `SNAPSHOT_UNAVAILABLE` if git is not installed, `WORKER_LOST` if it was killed, `GitFailure` if it fails. */
function runGit(args: readonly string[], { input = '', env = {}, cwd }: GitOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...args], {
      stdio: 'pipe',
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
    })
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    // A command that fails early does not read its input; the exit code reports the failure.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      reject(isMissing ? new TrmError('SNAPSHOT_UNAVAILABLE', 'git was not found in PATH') : error)
    })
    child.on('close', (code, signal) => {
      const message = Buffer.concat(err).toString().trim().slice(0, 500)
      if (signal !== null)
        reject(new WorkerError('WORKER_LOST', `git was ended by ${signal}`, { remedy: 'call again' }))
      else if (code === 0) resolve(Buffer.concat(out))
      else reject(new GitFailure(`git ${args[0]} failed with ${code}: ${message}`))
    })
  })
}

function toStoreError(error: GitFailure): CausewayError {
  const isUnwritable =
    /no space left|quota exceeded|file too large|permission denied|read-only|input\/output error|couldn't write|unable to write/i.test(
      error.message,
    )
  const data = { file: 'trm/shadow.git' }
  if (isUnwritable)
    return new StoreError('DATA_UNWRITABLE', 'the snapshots cannot be written: trm/shadow.git', {
      data,
      cause: error,
    })
  return new StoreError('DATA_DAMAGED', 'the snapshots are damaged: trm/shadow.git', {
    remedy:
      'restore the data folder from a backup, or move trm/shadow.git away: new snapshots work then, and earlier steps cannot be undone',
    data,
    cause: error,
  })
}

/** Returns the first program with this name in `PATH`. */
async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name)
    if (isAbsolute(folder) && (await isExecutable(file))) return file
  }
  return undefined
}

const isExecutable = (file: string): Promise<boolean> => exists(file, constants.X_OK)

const exists = (file: string, mode = constants.F_OK): Promise<boolean> =>
  access(file, mode).then(
    () => true,
    () => false,
  )
