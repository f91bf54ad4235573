import { statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { type Content, createFolder } from '@causeway/protocol'

/** `outputPath`: a folder, or a file with the content's extension. Never replaces a file. Returns the paths. */
export function saveFiles(
  content: readonly Content[],
  { outputPath, name }: { outputPath: string; name: string },
) {
  const isFolder = statSync(outputPath, { throwIfNoEntry: false })?.isDirectory() ?? false
  return content.flatMap((block) => {
    const file = findData(block)
    if (file === undefined) return []
    const extension = getExtension(file.mimeType)
    const isFile = !isFolder && extname(outputPath).toLowerCase() === `.${extension}`
    const stem = isFile ? outputPath.slice(0, -extname(outputPath).length) : join(outputPath, name)
    createFolder(dirname(stem))
    return [writeNewFile(stem, extension, Buffer.from(file.data, 'base64'))]
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

/** Writes `plot-2.png` if `plot.png` exists. */
function writeNewFile(stem: string, extension: string, bytes: Buffer): string {
  for (let number = 1; ; number++) {
    const path = `${stem}${number === 1 ? '' : `-${number}`}.${extension}`
    try {
      writeFileSync(path, bytes, { flag: 'wx' })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

const extensions: Readonly<Record<string, string>> = { jpeg: 'jpg', 'svg+xml': 'svg', 'octet-stream': 'bin' }

function getExtension(mimeType: string): string {
  const subtype = /\/([\w.+-]+)/.exec(mimeType)?.[1] ?? 'bin'
  return extensions[subtype] ?? subtype
}
