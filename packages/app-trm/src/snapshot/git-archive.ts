import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { TrmError } from '../errors.ts'

/** Reads the snapshots of version 0.2, which used a git repository. */
export class GitArchive {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  readList(id: string): Promise<string | undefined> {
    return this.read(`refs/snapshots/${id}:entries`).then((list) => list?.toString())
  }

  /** Returns `undefined` for an unknown name. Throws `SNAPSHOT_UNAVAILABLE`. */
  async read(name: string): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    return (await this.#run(name, 'pipe', parts)) ? Buffer.concat(parts) : undefined
  }

  /** Writes a content to an open file. Returns false for an unknown name. Throws `SNAPSHOT_UNAVAILABLE`. */
  copyTo(name: string, file: FileHandle): Promise<boolean> {
    return this.#run(name, file.fd)
  }

  async #run(name: string, output: 'pipe' | number, parts: Buffer[] = []): Promise<boolean> {
    if (!existsSync(join(this.#folder, 'HEAD'))) return false
    const env = { PATH: process.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
    const args = [`--git-dir=${this.#folder}`, 'cat-file', 'blob', name]
    const child = spawn('git', args, { env, stdio: ['ignore', output, 'ignore'] })
    child.stdout?.on('data', (part: Buffer) => parts.push(part))
    return new Promise((resolve, reject) => {
      child.on('error', (cause) =>
        reject(new TrmError('SNAPSHOT_UNAVAILABLE', 'the snapshot is stored with git', { cause })),
      )
      child.on('close', (code) => resolve(code === 0))
    })
  }
}
