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
    before: 'await replayTraffic(command.replay, process.stdin, process.stdout)',
    after: 'void replayTraffic(command.replay, process.stdin, process.stdout)',
    reason: 'nothing follows, stdin keeps the process running, and the promise never rejects',
  },
  {
    file: 'server/src/http/mcp/stateless-transport.ts',
    before: 'if (uris.length === 0) return () => {}',
    after: 'if (false) return () => {}',
    reason: 'only saves work: without URIs, nothing is subscribed',
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
  {
    file: 'packages/recording/src/formats/window-block.ts',
    before: 'const [frames, context] = [entry[0] ?? 0, entry[1] ?? 0]',
    after: 'const [frames, context] = [entry[0] ?? 1, entry[1] ?? 0]',
    reason: 'an entry has at least two numbers; the default satisfies noUncheckedIndexedAccess',
  },
  {
    file: 'packages/recording/src/imports/ros2/bag-part.ts',
    before: 'await rm(copy, { force: true })',
    after: 'await rm(copy, { force: false })',
    reason: 'the copy was opened before, and only another process could have removed it',
  },
  {
    file: 'packages/recording/src/reader/run/run-window.ts',
    before: 'const frames = [...readFrames(ids[0] ?? 0, ids.at(-1) ?? -1)]',
    after: 'const frames = [...readFrames(ids[0] ?? 0, ids.at(-1) ?? -2)]',
    reason: 'no frame is between 0 and a negative number',
  },
  {
    file: 'packages/app-replay/src/domain/steps/step.ts',
    before: 'if (column < 0) return',
    after: 'if (false) return',
    reason: 'only saves time: a typed array ignores what is written to a negative index',
  },
  {
    file: 'server/src/activity/event-feed.ts',
    before: 'delay(batchIntervalMs, undefined, { signal, ref: false }).catch(() => {})',
    after: 'delay(batchIntervalMs, undefined, { signal, ref: true }).catch(() => {})',
    reason:
      'the signal ends the delay when the server stops or the connection closes; until then both keep the process running',
  },
  {
    file: 'server/src/audit/audit-store.ts',
    before: 'const rowsPerInsert = 25',
    after: 'const rowsPerInsert = 26',
    reason: 'only the speed differs: all rows are written in order and in one transaction',
  },
  {
    file: 'server/src/http/mcp/session.ts',
    before: 'await this.#server.connect(this.#transport)',
    after: 'void this.#server.connect(this.#transport)',
    reason: 'the SDK connects before its first await, and cannot fail with a new transport',
  },
]
