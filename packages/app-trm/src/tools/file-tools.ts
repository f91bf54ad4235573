/** Reading files of the project. */

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { Critic } from '../critic.ts'
import type { FileContent } from '../domain/candidate/types.ts'
import { counted } from '../domain/counted.ts'
import { filePart, lineRange, linesIn } from '../domain/file-part.ts'
import type { SeenFile, SessionRow } from '../rows.ts'
import { seenFile, shaOf } from '../seen.ts'
import { named, reading, sessionFor, sidArgument, started, type TrmSession } from './shape.ts'

const mostPaths = 50

/** Declares trm.read and trm.lines. */
export function fileTools(app: Registrar<Critic, TrmSession>): void {
  app.tool('read', {
    about:
      'Files of the project with their line count and sha. Large ones come in parts: go on at nextOffset. For a few lines use lines.',
    hints: reading,
    aliases: named('read'),
    input: {
      ...sidArgument,
      paths: z.array(z.string().min(1)).min(1).describe('files, relative to the project, at most 50'),
      offset: z.int().min(1).default(1).describe('first line, from 1'),
      limit: z.int().min(1).max(10_000).default(2000).describe('most lines of each file'),
    },
    output: { sessionId: z.string(), files: z.record(z.string(), z.unknown()), summary: z.string() },
    example: { before: [started], args: { paths: ['sums.py'] } },
    async run({ sid, paths, offset, limit }, ctx) {
      const session = await sessionFor(ctx, sid)
      if (paths.length > mostPaths)
        throw new CausewayError('TOO_MANY_PATHS', `${paths.length} files are asked for`, {
          data: { most: mostPaths },
        })
      // Characters for all files together, so that an answer stays small enough for a model.
      const room = Math.max(2000, Math.floor(80_000 / paths.length))
      const entries: [string, unknown][] = []
      const seen = new Map<string, SeenFile>()
      for (const path of paths) {
        try {
          const { content, modified } = await readOne(ctx.store, session, path)
          seen.set(path, await seenFile(content))
          entries.push([path, { ...shown(content, { offset, limit, room }), modified }])
        } catch (error) {
          if (!isCausewayError(error)) throw error
          entries.push([path, { error: error.message, code: error.code }])
        }
      }
      await ctx.store.store.saw(session.id, seen)
      return {
        sessionId: session.id,
        files: Object.fromEntries(entries.map(([path, file]) => [path, withMetadata(file)])),
        summary: `${seen.size} of ${counted(paths.length, 'file')} read.`,
      }
    },
  })

  app.tool('lines', {
    about: 'Lines of a file with their numbers, as edits count them. About 100 at a time read best.',
    hints: reading,
    aliases: named('lines', { start_line: 'start', startLine: 'start', end_line: 'end', endLine: 'end' }),
    input: {
      ...sidArgument,
      file: z.string().min(1).describe('file, relative to the project'),
      start: z.int().describe('first line, from 1'),
      end: z.int().describe('last line, included; at most the last of the file'),
    },
    output: { file: z.string(), lines: z.array(z.string()), lineCount: z.int(), summary: z.string() },
    example: { before: [started], args: { file: 'sums.py', start: 1, end: 4 } },
    async run({ sid, file, start, end }, ctx) {
      const session = await sessionFor(ctx, sid)
      const { content } = await readOne(ctx.store, session, file)
      if (typeof content !== 'string')
        throw new CausewayError('NOT_TEXT', `the file is not text: ${file}`, { data: { path: file } })
      const lines = linesIn(content)
      const range = lineRange(lines.length, start, end, file)
      const seen = await seenFile(content)
      await ctx.store.store.saw(session.id, new Map([[file, seen]]))
      return {
        file,
        lines: lines
          .slice(range.start - 1, range.end)
          .map((line, index) => `${range.start + index}: ${line}`),
        lineCount: lines.length,
        sha: seen.sha,
        summary: `Lines ${range.start} to ${range.end} of ${lines.length} in ${file}.`,
      }
    },
  })
}

async function readOne(
  { files }: Critic,
  { config }: SessionRow,
  path: string,
): Promise<{ content: FileContent; modified: string }> {
  const content = (await files(config.repo).read([path])).get(path)
  if (content === undefined)
    throw new CausewayError('FILE_NOT_FOUND', `there is no such file: ${path}`, { data: { path } })
  const { mtime } = await lstat(join(config.repo, path))
  return { content, modified: mtime.toISOString() }
}

interface Shown {
  readonly content: string | null
  readonly lineCount: number
  readonly sizeBytes: number
  readonly sha: string
  readonly isBinary: boolean
  readonly nextOffset: number | null
}

function shown(
  content: FileContent,
  { offset, limit, room }: { offset: number; limit: number; room: number },
): Shown {
  const sizeBytes = Buffer.byteLength(content)
  const sha = shaOf(content)
  if (typeof content !== 'string')
    return { content: null, lineCount: 0, sizeBytes, sha, isBinary: true, nextOffset: null }
  return { sizeBytes, sha, isBinary: false, ...filePart(content, { offset, limit, room }) }
}

/** The file as the originals tell it: content beside its metadata; an error stays as it is. */
function withMetadata(file: unknown): unknown {
  if (typeof file !== 'object' || file === null || !('sizeBytes' in file)) return file
  const { content, lineCount, sizeBytes, modified, nextOffset, isBinary, sha } = file as Shown & {
    modified: string
  }
  return {
    content,
    sha,
    metadata: { lineCount, sizeBytes, lastModified: modified },
    ...(isBinary ? { isBinary } : {}),
    ...(nextOffset === null ? {} : { truncated: true, nextOffset }),
  }
}
