import { dayStart } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { defineImport } from '../../catalog/vault-tool.ts'
import { NmeaLogReader } from '../../domain/import/nmea-log.ts'
import { minIntervalArgument, sourceArguments } from './import-arguments.ts'

export default defineImport({
  name: 'import_nmea',
  category: 'import',
  title: 'Import NMEA log',
  about:
    'Import a log of NMEA 0183 sentences (GLL, GGA, GNS, RMC, VTG, ZDA). Returns one track. Use it for logs of your own ship.',
  searchHint: 'load GPS log of ship',
  input: {
    ...sourceArguments,
    date: z.string().optional().describe('UTC day on which the log starts, YYYY-MM-DD, if it has no date'),
    name: z.string().default('Own ship').describe('Name of the track'),
    min_interval_s: minIntervalArgument,
  },
  inject: {},
  read: ({ date, name, min_interval_s }, newId) =>
    new NmeaLogReader({
      date: date === undefined ? undefined : readDay(date),
      name,
      min_interval_s,
      id: newId('nmea'),
      source: 'NMEA 0183',
    }),
})

/** Returns midnight UTC in Unix milliseconds. */
function readDay(text: string): number {
  const [year, month, day] = text.split('-').map(Number)
  const dayMs = /^\d{4}-\d\d-\d\d$/.test(text) ? dayStart(year ?? 0, month ?? 0, day ?? 0) : undefined
  if (dayMs !== undefined) return dayMs
  throw new CausewayError('INVALID_ARGUMENTS', `date is not a day: ${text}`, {
    data: { problems: [{ argument: 'date', problem: 'is not a day' }] },
  })
}
