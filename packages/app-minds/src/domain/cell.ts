/** Cells in the spellings that games have for them. */
import type { Cell } from './observation.ts'

/** `[3, 4]`, `{x: 3, y: 4}` or `"(3, 4)"` as a cell of integers; null for anything else. */
export function readCell(value: unknown): Cell | null {
  if (Array.isArray(value)) return value.length === 2 ? cellOf(value[0], value[1]) : null
  if (typeof value === 'string') {
    // No two parts of the expression match the same blanks, so that its time is linear.
    const found =
      /^(?:Vector2i?\s*)?(?:[([]\s*)?(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?:\s*[)\]])?$/.exec(
        value.trim(),
      )
    return found === null ? null : cellOf(found[1], found[2])
  }
  if (typeof value !== 'object' || value === null) return null
  const { x, y } = value as { readonly x?: unknown; readonly y?: unknown }
  return cellOf(x, y)
}

function cellOf(x: unknown, y: unknown): Cell | null {
  if (!isNumber(x) || !isNumber(y)) return null
  const cell = [Math.round(Number(x)), Math.round(Number(y))] as const
  // -0 would be written as 0, and 0 is the cell that is meant
  return Number.isSafeInteger(cell[0]) && Number.isSafeInteger(cell[1]) ? [cell[0] + 0, cell[1] + 0] : null
}

const isNumber = (value: unknown): boolean =>
  (typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')) &&
  Number.isFinite(Number(value))
