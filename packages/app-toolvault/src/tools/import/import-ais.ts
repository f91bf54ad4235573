import { z } from 'zod'
import { defineImport } from '../../catalog/vault-tool.ts'
import { AisLogReader } from '../../domain/import/ais-log.ts'
import { readTime } from '../arguments.ts'
import { minIntervalArgument, sourceArguments } from './import-arguments.ts'

export default defineImport({
  name: 'import_ais',
  category: 'import',
  title: 'Import AIS log',
  about:
    'Import a log of AIS sentences (AIVDM, AIVDO). Returns a track for each vessel, with times from tag blocks or next to the sentences. Use it for logs of several vessels.',
  searchHint: 'load vessel traffic',
  input: {
    ...sourceArguments,
    start: z.string().optional().describe('Time of the first message, ISO 8601, if the log has no times'),
    min_interval_s: minIntervalArgument,
  },
  inject: {},
  read: ({ start, min_interval_s }, newId) =>
    new AisLogReader({
      start: start === undefined ? undefined : readTime('start', start),
      min_interval_s,
      newId,
    }),
})
