import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Content } from '@causeway/protocol'

/** Saves the pictures, sounds and embedded files of a result. Returns their paths. Existing files are not replaced. */
export function saveFiles(content: readonly Content[], { folder, name }: { folder: string; name: string }) {
  return content.flatMap((block) => {
    const file = findData(block)
    if (file === undefined) return []
    mkdirSync(folder, { recursive: true })
    return [writeNewFile(join(folder, name), extension(file.mimeType), Buffer.from(file.data, 'base64'))]
  })
}

function findData(block: Content): { readonly data: string; readonly mimeType: string } | undefined {
  if (block.type === 'image' || block.type === 'audio') return block
  if (block.type !== 'resource') return undefined
  const { blob, mimeType = 'application/octet-stream' } = block.resource as {
    blob?: string
    mimeType?: string
  }
  return blob === undefined ? undefined : { data: blob, mimeType }
}

/** Adds a number if the file exists: `plot.png`, `plot-2.png`. */
function writeNewFile(stem: string, end: string, bytes: Buffer): string {
  for (let number = 1; ; number++) {
    const path = `${stem}${number === 1 ? '' : `-${number}`}.${end}`
    try {
      writeFileSync(path, bytes, { flag: 'wx' })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

const extensions: Readonly<Record<string, string>> = { jpeg: 'jpg', 'svg+xml': 'svg', 'octet-stream': 'bin' }

function extension(mimeType: string): string {
  const subtype = /\/([\w.+-]+)/.exec(mimeType)?.[1] ?? 'bin'
  return extensions[subtype] ?? subtype
}

/** Returns the command that opens a file in the program of the desktop. */
export function openerCommand(
  path: string,
  platform: NodeJS.Platform = process.platform,
): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open', path]
  if (platform === 'win32') return ['cmd', '/c', 'start', '', path]
  return ['xdg-open', path]
}

/** Resolves to `false` if the program cannot be started. */
export function openFile(path: string): Promise<boolean> {
  const [program, ...args] = openerCommand(path)
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}
