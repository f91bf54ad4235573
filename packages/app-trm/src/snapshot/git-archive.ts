import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrmError } from '../errors.ts'

/** Snapshots of version 0.2, stored in a git repository. Reading throws `SNAPSHOT_UNAVAILABLE`. */
export class GitArchive {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  get exists(): boolean {
    return existsSync(join(this.#folder, 'HEAD'))
  }

  async listIds(): Promise<readonly string[]> {
    const chunks: Buffer[] = []
    if (!(await this.#run(['for-each-ref', '--format=%(refname:strip=2)', 'refs/snapshots'], 'pipe', chunks)))
      throw new TrmError('SNAPSHOT_UNAVAILABLE', `the git repository cannot be read: ${this.#folder}`)
    return Buffer.concat(chunks).toString().split('\n').filter(Boolean)
  }

  readList(id: string): Promise<string | undefined> {
    return this.read(`refs/snapshots/${id}:entries`).then((list) => list?.toString())
  }

  async read(name: string): Promise<Buffer | undefined> {
    const chunks: Buffer[] = []
    return (await this.#run(['cat-file', 'blob', name], 'pipe', chunks)) ? Buffer.concat(chunks) : undefined
  }

  copyTo(name: string, file: FileHandle): Promise<boolean> {
    return this.#run(['cat-file', 'blob', name], file.fd)
  }

  /** Calls `use` with a temporary file. Returns `undefined` for an unknown name. */
  async withFile<T>(name: string, use: (path: string) => Promise<T>): Promise<T | undefined> {
    const path = join(this.#folder, 'extracted')
    const file = await open(path, 'w', 0o600)
    const isFound = await this.copyTo(name, file).finally(() => file.close())
    return isFound ? use(path) : undefined
  }

  /** Removes the repository. An interruption never leaves an incomplete repository. */
  async remove(): Promise<void> {
    const removedFolder = `${this.#folder}.removed`
    if (this.exists) await rename(this.#folder, removedFolder)
    await rm(removedFolder, { recursive: true, force: true })
  }

  /** Returns `false` if git fails. */
  async #run(command: readonly string[], output: 'pipe' | number, chunks: Buffer[] = []): Promise<boolean> {
    if (!this.exists) return false
    const env = { PATH: process.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
    const args = [`--git-dir=${this.#folder}`, ...command]
    const child = spawn('git', args, { env, stdio: ['ignore', output, 'ignore'] })
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
    return new Promise((resolve, reject) => {
      child.on('error', (cause) =>
        reject(new TrmError('SNAPSHOT_UNAVAILABLE', 'the snapshot is stored with git', { cause })),
      )
      child.on('close', (code) => resolve(code === 0))
    })
  }
}
