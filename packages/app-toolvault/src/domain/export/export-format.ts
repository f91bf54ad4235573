import { parseTime } from '@causeway/app-kit/time'
import { type Feature, getLabel, listParts, type Position } from '@causeway/plot'

interface OmittedFeature {
  readonly feature: string
  readonly reason: string
}

/** `write` returns the reason if the format cannot represent a feature. */
export interface ExportFormat {
  readonly prefix: string
  readonly suffix: string
  write(feature: Feature): { readonly text: string } | { readonly reason: string }
}

export function exportFeatures(features: readonly Feature[], { prefix, suffix, write }: ExportFormat) {
  const texts: string[] = []
  const omittedFeatures: OmittedFeature[] = []
  for (const feature of features) {
    const result = write(feature)
    if ('text' in result) texts.push(result.text)
    else omittedFeatures.push({ feature: getLabel(feature), reason: result.reason })
  }
  return { text: prefix + texts.join('') + suffix, omittedFeatures }
}

export interface Vertex {
  readonly position: Position
  /** Unix milliseconds. */
  readonly time: number | undefined
  readonly speed_kn: number | null
  readonly course_deg: number | null
}

export function listVertexParts(feature: Feature): readonly (readonly Vertex[])[] {
  const { properties } = feature
  let index = 0
  return listParts(feature.geometry).map((part) =>
    part.map((position): Vertex => {
      const vertexIndex = index++
      return {
        position,
        time: parseTime(readItem(properties.timestamps, vertexIndex) ?? properties.time),
        speed_kn: readNumber(properties.speeds, vertexIndex),
        course_deg: readNumber(properties.courses, vertexIndex),
      }
    }),
  )
}

const readItem = (list: unknown, index: number): unknown => (Array.isArray(list) ? list[index] : undefined)

function readNumber(list: unknown, index: number): number | null {
  const value = readItem(list, index)
  return typeof value === 'number' ? value : null
}

/** Escapes markup and removes characters that XML does not allow. */
export const escapeXml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 does not allow them
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
