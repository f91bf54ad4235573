/** `server.json` of the data folder: the server that runs on it, for the commands that look for it. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { lockFiles, processIdentity } from '@causeway/store'
import { z } from 'zod'

const { holder: fileName } = lockFiles

const serverSchema = z.object({
  pid: z.int().positive(),
  /** What tells its process from a later one of the same number. */
  process: z.string(),
  host: z.string(),
  /** `http://127.0.0.1:3100` */
  url: z.string(),
  version: z.string(),
  started_ms: z.number(),
  /** How long calls under way are waited for when it is told to stop, ms. */
  shutdown_ms: z.number(),
  token_file: z.string().optional(),
})

/** A server as it told of itself. */
export type ServerNote = z.infer<typeof serverSchema>

/** What is known of the server of a data folder. */
export type Running =
  | { readonly state: 'none' }
  /** Its process is there. */
  | { readonly state: 'running'; readonly server: ServerNote }
  /** Its process is gone without having said so: it was killed, or the machine was restarted. */
  | { readonly state: 'gone'; readonly server: ServerNote }
  /** It was started on another machine or in a container, whose processes are not seen from here. */
  | { readonly state: 'elsewhere'; readonly server: ServerNote }

/** Writes down that this process, which holds the lock of the folder, serves; letting go of the lock takes it back. */
export function noteRunning(
  dataDir: string,
  told: Pick<ServerNote, 'url' | 'version' | 'started_ms' | 'shutdown_ms' | 'token_file'>,
): void {
  const { pid } = process
  const note: ServerNote = { pid, process: processIdentity(pid) ?? '', host: hostname(), ...told }
  const file = join(dataDir, fileName)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${pid}`, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.${pid}`, file)
}

/** Looks for the server of a data folder. A number that another process has by now is never taken for it. */
export function findRunning(dataDir: string): Running {
  const server = readNote(join(dataDir, fileName))
  if (server === undefined) return { state: 'none' }
  if (server.host !== hostname()) return { state: 'elsewhere', server }
  return { state: isRunning(server) ? 'running' : 'gone', server }
}

/** True while the very process that wrote the note is there. */
export const isRunning = ({ pid, process }: Pick<ServerNote, 'pid' | 'process'>): boolean =>
  processIdentity(pid) === process

function readNote(file: string): ServerNote | undefined {
  try {
    return serverSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    // None, or a text that no server wrote: both say nothing about a process.
    return undefined
  }
}
