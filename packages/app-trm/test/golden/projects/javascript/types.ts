interface Point {
  x: number
  y: number
}
const p: Point = { x: 1 }
const n: number = 'text'
export const length = p.lenght
export function twice(v) {
  return v * 2 + n
}
