import { type ErrorRow, row } from './row.ts'

/** Pictures. */
export const pictureRows = {
  INVALID_PICTURE: row(
    -32000,
    422,
    'what was to be drawn is not a chart or drawing that can be drawn',
    'correct the specification or the drawing named in the message',
  ),
} satisfies Record<string, ErrorRow>
