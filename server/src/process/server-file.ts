import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writePrivateFile } from '@causeway/protocol'
import { identifyProcess, lockFiles } from '@causeway/store'
import { z } from 'zod'
import { explicitSettingSchema } from '../config/effective-settings.ts'

const serverSchema = z.object({
  pid: z.int().positive(),
  /** From `identifyProcess`. */
  process: z.string(),
  host: z.string(),
  url: z.string(),
  version: z.string(),
  started_ms: z.number(),
  /** Maximum wait for running calls. */
  shutdown_ms: z.number(),
  token_file: z.string().optional(),
  /** Older servers omit the settings. */
  settings: z.array(explicitSettingSchema).readonly().optional(),
})

export type ServerRecord = z.infer<typeof serverSchema>

/** `gone`: the process ended without removing the file. `elsewhere`: it runs on another machine or in a container. */
type ServerState =
  | { readonly state: 'none' }
  | { readonly state: 'running' | 'gone' | 'elsewhere'; readonly server: ServerRecord }

/** Writes the record. Releasing the folder's lock removes it. */
export function recordServer(
  dataDir: string,
  details: Pick<ServerRecord, 'url' | 'version' | 'started_ms' | 'shutdown_ms' | 'token_file' | 'settings'>,
): void {
  const { pid } = process
  const record: ServerRecord = { pid, process: identifyProcess(pid) ?? '', host: hostname(), ...details }
  writePrivateFile(join(dataDir, lockFiles.holder), `${JSON.stringify(record, null, 2)}\n`)
}

export function findServer(dataDir: string): ServerState {
  const server = readRecord(join(dataDir, lockFiles.holder))
  if (server === undefined) return { state: 'none' }
  if (server.host !== hostname()) return { state: 'elsewhere', server }
  return { state: isRunning(server) ? 'running' : 'gone', server }
}

export const isRunning = ({ pid, process }: Pick<ServerRecord, 'pid' | 'process'>): boolean =>
  identifyProcess(pid) === process

function readRecord(file: string): ServerRecord | undefined {
  try {
    return serverSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}
