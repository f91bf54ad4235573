import { z } from 'zod'

export const sourceArguments = {
  path: z.string().min(1).optional().describe('File below a root (CAUSEWAY_PLOT_ROOTS)'),
  text: z.string().optional().describe('Content of the file, instead of path'),
}

export const minIntervalArgument = z
  .number()
  .positive()
  .optional()
  .describe('Seconds; fixes closer to the previous one are omitted')
