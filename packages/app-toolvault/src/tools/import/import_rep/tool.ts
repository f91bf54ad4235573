import { z } from 'zod'
import { repFile } from '../../../domain/import/rep-file.ts'
import { importTool, minInterval } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** import_rep: years of two digits are told apart by a pivot. */
export default importTool({
  name: 'import_rep',
  category: 'import',
  about:
    'Import a Debrief replay file (REP): tracks with declared course, speed and depth, texts and circles.',
  input: {
    pivot_year: z.int().min(0).max(100).default(70).describe('two-digit years from here on are of the 1900s'),
    min_interval_s: minInterval(),
  },
  inject: {},
  samples,
  read: (options, { newId }) => repFile({ ...options, newId }),
})
