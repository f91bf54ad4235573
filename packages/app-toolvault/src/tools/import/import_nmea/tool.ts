import { z } from 'zod'
import { dayOf } from '../../../domain/import/import-arguments.ts'
import { nmeaLog } from '../../../domain/import/nmea-log.ts'
import { importTool, minInterval } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** import_nmea: own-ship logs; those without a date get it as an argument. */
export default importTool({
  name: 'import_nmea',
  category: 'import',
  about: 'Import a log of NMEA 0183 sentences (GLL, GGA, GNS, RMC, VTG, ZDA) as a track.',
  input: {
    date: z.string().optional().describe('UTC day on which the log begins, YYYY-MM-DD, where it has none'),
    name: z.string().default('Own ship').describe('of the track'),
    min_interval_s: minInterval(),
  },
  inject: {},
  samples,
  read: ({ date, name, min_interval_s }, { newId }) =>
    nmeaLog({ date: dayOf(date), name, min_interval_s, id: newId('nmea'), source: 'NMEA 0183' }),
})
