import { randomUUID } from 'node:crypto'
import type { CallToolResult } from '@causeway/protocol'

export interface ToolPicture {
  readonly mimeType: string
  readonly bytes: Buffer
}

const maxBytes = 16 * 1024 ** 2

export class LatestPictures {
  readonly #pictures = new Map<string, ToolPicture>()
  readonly #maxBytes: number
  #totalBytes = 0

  constructor({ bytes = maxBytes }: { readonly bytes?: number } = {}) {
    this.#maxBytes = bytes
  }

  add(app: string, picture: ToolPicture): string {
    const path = getPicturePath(app, randomUUID())
    this.#pictures.set(path, picture)
    this.#totalBytes += picture.bytes.length
    for (const [oldestPath, { bytes }] of this.#pictures) {
      if (this.#totalBytes <= this.#maxBytes || oldestPath === path) break
      this.#pictures.delete(oldestPath)
      this.#totalBytes -= bytes.length
    }
    return path
  }

  find(app: string, id: string): ToolPicture | undefined {
    return this.#pictures.get(getPicturePath(app, id))
  }
}

const getPicturePath = (app: string, id: string): string => `/api/apps/${app}/pictures/${id}`

export function findPicture({ content }: CallToolResult): ToolPicture | undefined {
  for (const part of content)
    if (part.type === 'image') return { mimeType: part.mimeType, bytes: Buffer.from(part.data, 'base64') }
  return undefined
}

/** Whether an `Accept` header names the type or `image/*` with at least the weight of JSON. */
export function shouldSendPicture(accept: string | undefined, mimeType: string): boolean {
  const weights = new Map(
    (accept ?? '').split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0] as const
    }),
  )
  const picture = weights.get(mimeType) ?? weights.get('image/*') ?? 0
  return picture > 0 && picture >= (weights.get('application/json') ?? 0)
}
