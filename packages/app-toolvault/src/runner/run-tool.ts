import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { DebriefCommand } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import { runInSlices } from '@causeway/worker'
import type { LineReader, NewId, ToolArgs, VaultTool } from '../catalog/vault-tool.ts'
import { ToolVaultError } from '../errors.ts'

interface RunControl {
  readonly signal: AbortSignal
  progress(done: number, total?: number, message?: string): void
}

interface RunOptions {
  readonly newId: NewId
  readonly control: RunControl
  /** Real path of the file to import instead of the text in the arguments. */
  readonly file?: string | undefined
}

const maxFileBytes = 512 * 1024 ** 2

const maxLineLength = 64 * 1024 ** 2

/** Ids have the form `<prefix>-<run>-<number>`. */
export function createNewId(run: string): NewId {
  let count = 0
  return (prefix) => `${prefix}-${run}-${++count}`
}

/** Yields to the event loop between steps. Rejects with the abort reason or the tool's error. */
export async function runTool(
  tool: VaultTool,
  args: ToolArgs,
  { newId, control, file }: RunOptions,
): Promise<DebriefCommand> {
  if ('read' in tool) {
    const reader = tool.read(args, newId)
    if (file !== undefined) return readFile(reader, file, control)
    for (const line of String(args.text).split(/\r?\n/)) reader.readLine(line)
    return reader.finish()
  }
  const run = tool.run(args, newId)
  if ('command' in run) return run
  return runInSlices(run, {
    get signal() {
      return control.signal
    },
    progress: ({ done, total }) => control.progress(done, total),
  })
}

async function readFile(reader: LineReader, file: string, control: RunControl): Promise<DebriefCommand> {
  const size = await getFileSize(file)
  if (size > maxFileBytes)
    throw new ToolVaultError('IMPORT_TOO_LARGE', `the file has ${size} bytes, more than ${maxFileBytes}`, {
      data: { bytes: size, most: maxFileBytes },
    })
  let [incompleteLine, bytesRead, lineCount] = ['', 0, 0]
  const decoder = new TextDecoder()
  // The loop closes the file, even after an error.
  for await (const chunk of createReadStream(file) as AsyncIterable<Uint8Array>) {
    bytesRead += chunk.length
    const completeLines = (incompleteLine + decoder.decode(chunk, { stream: true })).split('\n')
    incompleteLine = completeLines.pop() ?? ''
    if (incompleteLine.length > maxLineLength)
      throw new ToolVaultError('IMPORT_TOO_LARGE', `a line has more than ${maxLineLength} characters`)
    for (const line of completeLines) reader.readLine(line.endsWith('\r') ? line.slice(0, -1) : line)
    lineCount += completeLines.length
    control.progress(bytesRead, size, `${lineCount} lines`)
    await setImmediate()
    control.signal.throwIfAborted()
  }
  if (incompleteLine !== '') reader.readLine(incompleteLine)
  return reader.finish()
}

/** Throws `FILE_NOT_FOUND` unless the file is a readable regular file. */
async function getFileSize(file: string): Promise<number> {
  const createError = (problem: string, cause?: unknown): CausewayError =>
    new CausewayError('FILE_NOT_FOUND', `${problem}: ${file}`, { data: { path: file }, cause })
  try {
    const stats = await stat(file)
    // Reading a pipe or a device may never end.
    if (!stats.isFile()) throw createError('the path is not a regular file')
    await access(file, constants.R_OK)
    return stats.size
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code)
      ? createError('the file cannot be read', error)
      : error
  }
}
