import { z } from 'zod'

/** Names of a hundred trivial tools, `echo_00` to `echo_99`. */
export const toolNames: readonly string[] = Array.from(
  { length: 100 },
  (_, index) => `echo_${String(index).padStart(2, '0')}`,
)

/** What each of them does: next to nothing, so that what is measured is the way to it. */
export const about = 'Gives back the text that it is given.'

/** Arguments of each. */
export const input = {
  text: z.string().describe('the text to give back'),
  times: z.int().min(1).max(9).default(1).describe('how often it is repeated'),
}

/** Answer of each. */
export const output = { text: z.string() }

/** The work of each. */
export const echo = ({ text, times }: { text: string; times: number }) => ({ text: text.repeat(times) })
