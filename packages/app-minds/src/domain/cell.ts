import type { Cell } from './observation.ts'

/** Parses a cell such as `[3, 4]`, `{x: 3, y: 4}` or `"(3, 4)"` and rounds to integers. Returns `null` if invalid. */
export function readCell(value: unknown): Cell | null {
  if (Array.isArray(value)) return value.length === 2 ? toCell(value[0], value[1]) : null
  if (typeof value === 'string') {
    // Linear time: no two parts of the expression match the same white space.
    const match =
      /^(?:Vector2i?\s*)?(?:[([]\s*)?(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?:\s*[)\]])?$/.exec(
        value.trim(),
      )
    return match === null ? null : toCell(match[1], match[2])
  }
  if (typeof value !== 'object' || value === null) return null
  const { x, y } = value as { readonly x?: unknown; readonly y?: unknown }
  return toCell(x, y)
}

function toCell(x: unknown, y: unknown): Cell | null {
  if (!isNumber(x) || !isNumber(y)) return null
  const cell = [Math.round(Number(x)), Math.round(Number(y))] as const
  // Adding 0 turns -0 into 0.
  return Number.isSafeInteger(cell[0]) && Number.isSafeInteger(cell[1]) ? [cell[0] + 0, cell[1] + 0] : null
}

const isNumber = (value: unknown): boolean =>
  (typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')) &&
  Number.isFinite(Number(value))
