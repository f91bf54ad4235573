import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Registrar } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { normalizePath, removeRoot } from '../domain/candidate/path.ts'
import type { FileContent } from '../domain/candidate/types.ts'
import { checkRange, readPart, splitLines } from '../domain/file-part.ts'
import { formatCount } from '../domain/format.ts'
import { TrmError } from '../errors.ts'
import type { Critic } from '../session/critic.ts'
import { createSeenFile, hashContent } from '../session/seen-files.ts'
import type { SeenFile, SessionRow } from '../store/rows.ts'
import { readFiles } from '../workspace/project-files.ts'
import {
  type ClientState,
  createAliases,
  exampleStart,
  findSession,
  readHints,
  sidArgument,
} from './tool-context.ts'

const maxPaths = 50
/** Maximum total number of characters in a result. */
const maxLength = 80_000

export function declareFileTools(app: Registrar<Critic, ClientState>): void {
  app.tool('read', {
    title: 'Read files',
    about:
      'Read files of the project. Returns content, line count and sha; a large file continues at nextOffset. Use it for whole files; lines for a few lines.',
    searchHint: 'show source code',
    hints: readHints,
    aliases: createAliases('read'),
    input: {
      ...sidArgument,
      paths: z.array(z.string().min(1)).min(1).describe('Files, relative to the project, at most 50'),
      offset: z.int().min(1).default(1).describe('First line, from 1'),
      limit: z.int().min(1).max(10_000).default(2000).describe('Maximum lines of each file'),
    },
    output: { sessionId: z.string(), files: z.record(z.string(), z.unknown()), summary: z.string() },
    example: { before: [exampleStart], args: { paths: ['sums.py'] } },
    async run({ sid, paths, offset, limit }, ctx) {
      const session = await findSession(ctx, sid)
      if (paths.length > maxPaths)
        throw new TrmError('TOO_MANY_PATHS', `${paths.length} files are requested`, {
          data: { most: maxPaths },
        })
      const partOptions = { offset, limit, maxLength: Math.max(2000, Math.floor(maxLength / paths.length)) }
      const files: [string, unknown][] = []
      const seenFiles = new Map<string, SeenFile>()
      for (const path of paths) {
        try {
          const { content, lastModified } = await readFile(session, path)
          seenFiles.set(path, await createSeenFile(content))
          files.push([path, formatFile(content, lastModified, partOptions)])
        } catch (error) {
          if (!isCausewayError(error)) throw error
          files.push([path, { error: error.message, code: error.code }])
        }
      }
      await ctx.store.store.addSeen(session.id, seenFiles)
      return {
        sessionId: session.id,
        files: Object.fromEntries(files),
        summary: `${seenFiles.size} of ${formatCount(paths.length, 'file')} read.`,
      }
    },
  })
  declareLinesTool(app)
}

function declareLinesTool(app: Registrar<Critic, ClientState>): void {
  app.tool('lines', {
    title: 'Read lines',
    about:
      'Read numbered lines of a file, as edits count them. Use it before an edit with line numbers; about 100 lines at a time work best.',
    searchHint: 'show part of source file',
    hints: readHints,
    aliases: createAliases('lines', { startLine: 'start', endLine: 'end' }),
    input: {
      ...sidArgument,
      file: z.string().min(1).describe('File, relative to the project'),
      start: z.int().describe('First line, from 1'),
      end: z.int().describe('Last line, included'),
    },
    output: { file: z.string(), lines: z.array(z.string()), lineCount: z.int(), summary: z.string() },
    example: { before: [exampleStart], args: { file: 'sums.py', start: 1, end: 4 } },
    async run({ sid, file, start, end }, ctx) {
      const session = await findSession(ctx, sid)
      const { content } = await readFile(session, file)
      if (typeof content !== 'string')
        throw new TrmError('NOT_TEXT', `the file is not text: ${file}`, { data: { path: file } })
      const lines = splitLines(content)
      const range = checkRange(lines.length, { start, end }, file)
      const seenFile = await createSeenFile(content)
      await ctx.store.store.addSeen(session.id, new Map([[file, seenFile]]))
      return {
        file,
        lines: lines
          .slice(range.start - 1, range.end)
          .map((line, index) => `${range.start + index}: ${line}`),
        lineCount: lines.length,
        sha: seenFile.sha,
        summary: `Lines ${range.start} to ${range.end} of ${lines.length} in ${file}.`,
      }
    },
  })
}

async function readFile(
  { config }: SessionRow,
  givenPath: string,
): Promise<{ readonly content: FileContent; readonly lastModified: string }> {
  const path = removeRoot(givenPath, [config.repo, config.project])
  const content = (await readFiles(config.repo, [path])).get(normalizePath(path))
  if (content === undefined)
    throw new CausewayError('FILE_NOT_FOUND', `file not found: ${path}`, { data: { path } })
  const { mtime } = await lstat(join(config.repo, path))
  return { content, lastModified: mtime.toISOString() }
}

function formatFile(content: FileContent, lastModified: string, partOptions: Parameters<typeof readPart>[1]) {
  const sha = hashContent(content)
  const sizeBytes = Buffer.byteLength(content)
  if (typeof content !== 'string')
    return { content: null, sha, metadata: { lineCount: 0, sizeBytes, lastModified }, isBinary: true }
  const { content: text, lineCount, nextOffset } = readPart(content, partOptions)
  const metadata = { lineCount, sizeBytes, lastModified }
  return { content: text, sha, metadata, ...(nextOffset === null ? {} : { truncated: true, nextOffset }) }
}
