import { randomUUID } from 'node:crypto'
import type { CallToolResult } from '@causeway/protocol'

/** A picture that a tool returned. */
export interface ToolPicture {
  readonly mimeType: string
  readonly bytes: Buffer
}

/** Maximum size of all stored pictures, bytes. */
const maxBytes = 16 * 1024 ** 2

/** The latest pictures of tools that were called over REST. Each has a URL. */
export class LatestPictures {
  /** By path, oldest first. */
  readonly #pictures = new Map<string, ToolPicture>()
  readonly #maxBytes: number
  #bytes = 0

  constructor({ bytes = maxBytes }: { readonly bytes?: number } = {}) {
    this.#maxBytes = bytes
  }

  /** Stores a picture of an app and returns the path of its URL. */
  add(app: string, picture: ToolPicture): string {
    const path = picturePath(app, randomUUID())
    this.#pictures.set(path, picture)
    this.#bytes += picture.bytes.length
    for (const [oldest, { bytes }] of this.#pictures) {
      if (this.#bytes <= this.#maxBytes || oldest === path) break
      this.#pictures.delete(oldest)
      this.#bytes -= bytes.length
    }
    return path
  }

  find(app: string, id: string): ToolPicture | undefined {
    return this.#pictures.get(picturePath(app, id))
  }
}

const picturePath = (app: string, id: string): string => `/api/apps/${app}/pictures/${id}`

/** Returns the first picture of a result. */
export function findPicture({ content }: CallToolResult): ToolPicture | undefined {
  for (const part of content)
    if (part.type === 'image') return { mimeType: part.mimeType, bytes: Buffer.from(part.data, 'base64') }
  return undefined
}

/**
 * Whether an `Accept` header names the picture's type, or `image/*`, with at least the weight of JSON. A client that accepts
 * anything gets JSON.
 */
export function prefersPicture(accept: string | undefined, mimeType: string): boolean {
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
