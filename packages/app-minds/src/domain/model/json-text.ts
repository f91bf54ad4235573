/** Getting JSON out of what a model wrote: fences, prose around it, and the mistakes that models make. */
import { isObject } from '@causeway/protocol'
import { jsonrepair } from 'jsonrepair'

/** The value, or what is wrong with the text in words that a model can act on. */
export type JsonReading = { readonly value: unknown } | { readonly problem: string }

/** Reads the first object in a text. A repair is tried only where strict reading fails. */
export function readJson(text: string): JsonReading {
  const trimmed = text.trim()
  if (trimmed === '') return { problem: 'the answer was empty' }
  const candidate = firstObject(withoutFences(trimmed))
  if (candidate === undefined) return { problem: 'the answer holds no JSON object' }
  const strict = parsed(candidate)
  if ('value' in strict) return strict
  try {
    const repaired = parsed(jsonrepair(candidate))
    return 'value' in repaired && isObject(repaired.value) ? repaired : strict
  } catch {
    return strict
  }
}

function parsed(text: string): JsonReading {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    const { message } = error as SyntaxError
    const at = /position (\d+)/.exec(message)?.[1]
    return {
      problem: `not JSON: ${message.split(' in JSON')[0]}${at === undefined ? '' : place(text, Number(at))}`,
    }
  }
}

function place(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n')
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`
}

/** The inside of the first fence, where there is one. */
const withoutFences = (text: string): string => /```(?:[a-z]*)\s*([\s\S]*?)(?:```|$)/i.exec(text)?.[1] ?? text

/** From the first brace to the one that closes it; to the end where none does. */
function firstObject(text: string): string | undefined {
  const start = text.indexOf('{')
  if (start < 0) return undefined
  let depth = 0
  let quote = ''
  for (let i = start; i < text.length; i++) {
    const char = text[i] as string
    if (quote !== '') {
      if (char === '\\') i++
      else if (char === quote) quote = ''
    } else if (char === '"') quote = char
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return text.slice(start, i + 1)
  }
  return text.slice(start)
}
