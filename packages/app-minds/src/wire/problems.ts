/** What is wrong with a value, in the words of the original: `path: problem`, at most five. */
import type { z } from 'zod'

/** Problems of a failed parse. */
export const problemsOf = ({ issues }: z.ZodError): readonly string[] =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'value'}: ${message.replace(/^Invalid input: /, '')}`)
