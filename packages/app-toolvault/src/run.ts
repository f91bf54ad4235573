/** Running a tool of the vault, at once or in steps between which others get their turn. */

import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { inSlices } from '@causeway/worker'
import type { DebriefCommand } from './domain/command.ts'
import type { AnyVaultTool, RunAid, TextReader, ToolArgs } from './vault-tool.ts'

/** How a run reports and is stopped. */
export interface RunWatch {
  readonly signal: AbortSignal
  progress(done: number, total?: number, message?: string): void
}

/** Largest file that is imported, bytes. */
const mostImportBytes = 512 * 1024 ** 2

/** Longest line, letters: a document may be one line. */
const mostLineLetters = 64 * 1024 ** 2

/** Ids that begin with the letters asked for and go on with the name of the run and a number. */
export function idsOf(run: string): RunAid {
  let count = 0
  return { newId: (prefix) => `${prefix}-${run}-${++count}` }
}

/** Runs a tool on checked arguments. Rejects with what the tool throws, and with the reason of the signal. */
export async function runTool(
  tool: AnyVaultTool,
  args: ToolArgs,
  {
    aid,
    watch,
    file,
  }: { readonly aid: RunAid; readonly watch: RunWatch; readonly file?: string | undefined },
): Promise<DebriefCommand> {
  if ('read' in tool) return readText(tool.read(args, aid), { args, file, watch })
  const run = tool.run(args, aid)
  if ('command' in run) return run
  return inSlices(run, {
    signal: watch.signal,
    told: ({ done, total }) => watch.progress(done, total),
  })
}

async function readText(
  reader: TextReader,
  { args, file, watch }: { args: ToolArgs; file: string | undefined; watch: RunWatch },
): Promise<DebriefCommand> {
  if (file === undefined) {
    for (const line of String(args.text).split(/\r?\n/)) reader.take(line)
    return reader.finish()
  }
  const size = await sizeOf(file)
  if (size > mostImportBytes)
    throw new CausewayError('IMPORT_TOO_LARGE', `the file has ${size} bytes, more than ${mostImportBytes}`, {
      data: { bytes: size, most: mostImportBytes },
    })
  let [rest, read, lines] = ['', 0, 0]
  const decoder = new TextDecoder()
  // Leaving the loop, by an error too, closes the file.
  for await (const chunk of createReadStream(file) as AsyncIterable<Uint8Array>) {
    read += chunk.length
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > mostLineLetters)
      throw new CausewayError('IMPORT_TOO_LARGE', `a line has more than ${mostLineLetters} letters`)
    for (const line of parts) reader.take(line.endsWith('\r') ? line.slice(0, -1) : line)
    lines += parts.length
    watch.progress(read, size, `${lines} lines`)
    await setImmediate()
    watch.signal.throwIfAborted()
  }
  if (rest !== '') reader.take(rest)
  return reader.finish()
}

/** The size of a file, bytes; throws `FILE_NOT_FOUND` for one that is gone, no regular file, or not ours to read. */
async function sizeOf(file: string): Promise<number> {
  const refusal = (problem: string, cause?: unknown): CausewayError =>
    new CausewayError('FILE_NOT_FOUND', `${problem}: ${file}`, { data: { path: file }, cause })
  try {
    const stats = await stat(file)
    // A folder cannot be read, and a pipe or a device would be read for ever.
    if (!stats.isFile()) throw refusal('the path is no regular file')
    await access(file, constants.R_OK)
    return stats.size
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code)
      ? refusal('the file cannot be read', error)
      : error
  }
}
