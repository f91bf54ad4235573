import { z } from 'zod'
import { aisLog } from '../../../domain/import/ais-log.ts'
import { timeOf } from '../../../domain/import/import-arguments.ts'
import { importTool, minInterval } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** import_ais: a track for each vessel. */
export default importTool({
  name: 'import_ais',
  category: 'import',
  about:
    'Import a log of AIS sentences (AIVDM, AIVDO): a track for each vessel, times from tag blocks or beside the sentences.',
  input: {
    start: z.string().optional().describe('ISO 8601, time of the first message, where the log has no times'),
    min_interval_s: minInterval(),
  },
  inject: {},
  samples,
  read: ({ start, min_interval_s }, { newId }) =>
    aisLog({ start: timeOf('start', start), min_interval_s, newId }),
})
