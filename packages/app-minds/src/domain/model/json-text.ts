import { isObject } from '@causeway/protocol'
import { jsonrepair } from 'jsonrepair'

type JsonResult = { readonly value: unknown } | { readonly problem: string }

/** Parses the first JSON object in a text. Repairs common mistakes if strict parsing fails. */
export function readJson(text: string): JsonResult {
  const trimmed = text.trim()
  if (trimmed === '') return { problem: 'the answer was empty' }
  const objectText = selectObject(trimmed)
  if (objectText === undefined) return { problem: 'the answer has no JSON object' }
  const strictResult = parseStrict(objectText)
  if ('value' in strictResult) return strictResult
  try {
    const repairedResult = parseStrict(jsonrepair(objectText))
    return 'value' in repairedResult && isObject(repairedResult.value) ? repairedResult : strictResult
  } catch {
    return strictResult
  }
}

function parseStrict(text: string): JsonResult {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    const { message } = error as SyntaxError
    const position = /position (\d+)/.exec(message)?.[1]
    return {
      problem: `not JSON: ${message.split(' in JSON')[0]}${position === undefined ? '' : formatPosition(text, Number(position))}`,
    }
  }
}

function formatPosition(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n')
  return ` (line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1})`
}

/** Returns the object after a code fence, or the first object if it contains the fence or the fence is missing. */
function selectObject(text: string): string | undefined {
  const firstObject = findObject(text)
  const fenceMatch = /```[a-z]*\s*(?=\{)/i.exec(text)
  if (firstObject === undefined || fenceMatch === null) return firstObject
  const start = text.indexOf('{')
  const containsFence = start < fenceMatch.index && fenceMatch.index < start + firstObject.length
  if (containsFence && (start === 0 || 'value' in parseStrict(firstObject))) return firstObject
  return findObject(text.slice(fenceMatch.index + fenceMatch[0].length))
}

/** Returns the first object, or the text from its start if it is incomplete. */
function findObject(text: string): string | undefined {
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
  return text.slice(start).replace(/\s*```\s*$/, '')
}
