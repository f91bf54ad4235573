import { z } from 'zod'
import { defineImport } from '../../catalog/vault-tool.ts'
import { RepFileReader } from '../../domain/import/rep-file.ts'
import { minIntervalArgument, sourceArguments } from './import-arguments.ts'

export default defineImport({
  name: 'import_rep',
  category: 'import',
  title: 'Import REP file',
  about:
    'Import a Debrief replay file (REP). Returns tracks with declared course, speed and depth, and shapes, texts, narratives and sensor contacts as annotations. Use it for data of the original Debrief.',
  searchHint: 'load Debrief file',
  input: {
    ...sourceArguments,
    pivot_year: z
      .int()
      .min(0)
      .max(100)
      .default(70)
      .describe('Two-digit years from this one are in the 20th century'),
    min_interval_s: minIntervalArgument,
  },
  inject: {},
  read: (options, newId) => new RepFileReader({ ...options, newId }),
})
