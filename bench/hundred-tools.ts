import { z } from 'zod'

/** Names of a hundred trivial tools, `echo_00` to `echo_99`. */
export const toolNames: readonly string[] = Array.from(
  { length: 100 },
  (_, index) => `echo_${String(index).padStart(2, '0')}`,
)

/** The description of each tool. It does almost nothing, so that the measurement shows the cost of the path to it. */
export const about = 'Gives back the text that it is given.'

/** Arguments of each tool. */
export const input = {
  text: z.string().describe('the text to give back'),
  times: z.int().min(1).max(9).default(1).describe('how often it is repeated'),
}

/** Result of each tool. */
export const output = { text: z.string() }

/** The implementation of each tool. */
export const echo = ({ text, times }: { text: string; times: number }) => ({ text: text.repeat(times) })
