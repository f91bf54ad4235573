/** Mutants that no test can distinguish from the original, with the reason. Identified by content, not by line number. */
export interface Equivalent {
  readonly file: string
  /** The line before and after the change, as the check prints them. */
  readonly before: string
  readonly after: string
  readonly reason: string
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'bridge/src/main.ts',
    before: 'await replayTraffic(path, process.stdin, process.stdout)',
    after: 'void replayTraffic(path, process.stdin, process.stdout)',
    reason: 'nothing follows, stdin keeps the process running, and the promise never rejects',
  },
  {
    file: 'bridge/src/stages/tool-filter.ts',
    before: 'if (this.#lists.size === 0) {',
    after: 'if (false) {',
    reason: 'only saves parsing: a message that answers no list request is forwarded unchanged',
  },
  {
    file: 'packages/recording/src/reader/query/query-process.ts',
    before: 'const db = new Database(file, { readonly: true, fileMustExist: true })',
    after: 'const db = new Database(file, { readonly: true, fileMustExist: false })',
    reason: 'a read-only connection never creates a file: SQLite fails with SQLITE_CANTOPEN in both cases',
  },
  {
    file: 'packages/recording/src/formats/lines/frame-energy.ts',
    before: 'rows[at + bodyAt.parts] = (rows[at + bodyAt.parts] ?? 0) | hasEnergy',
    after: 'rows[at + bodyAt.parts] = (rows[at + bodyAt.parts] ?? 1) | hasEnergy',
    reason: 'the element always exists; the default satisfies noUncheckedIndexedAccess',
  },
  {
    file: 'packages/recording/src/recorder/same-frame.ts',
    before: 'if (sent === null ? bytes === null : bytes?.equals(toBytes(sent)) === true) return true',
    after: 'if (false) return true',
    reason: 'only saves unpacking: equal bytes unpack to equal lists',
  },
  {
    file: 'server/src/backup/partial-backup.ts',
    before: 'await rm(folder, { recursive: true, force: true })',
    after: 'await rm(folder, { recursive: true, force: false })',
    reason: 'differs only if another process removes the folder between the check and the removal',
  },
]
