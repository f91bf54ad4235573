import { type FileHandle, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Contents } from './contents.ts'
import { GitReader } from './git-reader.ts'
import type { ShadowGit } from './shadow-git.ts'

/** A reference protects the snapshot from `git gc`. */
const toRef = (id: string): string => `refs/snapshots/${id}`

/** Contents in a git repository. Each list is a tree that contains it and everything that it names. */
export class GitContents implements Contents {
  readonly #git: ShadowGit
  readonly #reader: GitReader
  readonly #keepMs: number

  constructor(git: ShadowGit, keepMs: number) {
    this.#git = git
    this.#reader = new GitReader(() => git.start(['cat-file', '--batch']))
    this.#keepMs = keepMs
  }

  /** Through files, because git reads only one text from its input. */
  async addTexts(texts: readonly string[]): Promise<readonly string[]> {
    if (texts.length === 0) return []
    const folder = await mkdtemp(join(tmpdir(), 'causeway-texts-'))
    try {
      const files = texts.map((_, index) => join(folder, String(index)))
      for (const [index, file] of files.entries()) await writeFile(file, texts[index] ?? '', { mode: 0o600 })
      return await this.addFiles(files)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  async addFiles(files: readonly string[]): Promise<readonly string[]> {
    if (files.length === 0) return []
    const input = files.map((file) => `${file}\n`).join('')
    const args = ['hash-object', '-w', '--no-filters', '--stdin-paths']
    return (await this.#git.run(args, { input })).toString().trim().split('\n')
  }

  async read(blob: string): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    const isFound = await this.#reader.read(blob, (part) => void parts.push(part))
    return isFound ? Buffer.concat(parts) : undefined
  }

  copyTo(blob: string, file: FileHandle): Promise<boolean> {
    // Unlike `write`, `writeFile` writes the whole part.
    return this.#reader.read(blob, (part) => file.writeFile(part))
  }

  async addList(id: string, text: string, blobs: readonly string[]): Promise<void> {
    const list = (await this.#git.run(['hash-object', '-w', '--stdin'], { input: text })).toString().trim()
    const entries = [...new Set(blobs)].map((blob) => `100644 blob ${blob}\t${blob}\n`)
    const input = [`100644 blob ${list}\tentries\n`, ...entries].join('')
    const tree = await this.#git.run(['mktree'], { input })
    await this.#git.run(['update-ref', toRef(id), tree.toString().trim()])
  }

  async readList(id: string): Promise<string | undefined> {
    return (await this.read(`${toRef(id)}:entries`))?.toString()
  }

  async drop(ids: readonly string[]): Promise<void> {
    const listed = await this.#git.run(['for-each-ref', '--format=%(refname)', 'refs/snapshots'])
    const existing = new Set(listed.toString().split('\n'))
    const refs = [...new Set(ids.map(toRef))].filter((ref) => existing.has(ref))
    await this.#git.run(['update-ref', '--stdin'], { input: refs.map((ref) => `delete ${ref}\n`).join('') })
  }

  async collect(): Promise<void> {
    const expire = this.#keepMs === 0 ? 'now' : `${Math.ceil(this.#keepMs / 1000)}.seconds.ago`
    await this.#git.run(['gc', '--quiet', `--prune=${expire}`])
  }
}
