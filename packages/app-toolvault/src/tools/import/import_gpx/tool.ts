import { xmlFile } from '../../../domain/import/xml-file.ts'
import { importTool, minInterval } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** import_gpx: tracks, routes and waypoints. */
export default importTool({
  name: 'import_gpx',
  category: 'import',
  about: 'Import a GPX file: tracks, routes and waypoints.',
  input: { min_interval_s: minInterval() },
  inject: {},
  samples,
  read: ({ min_interval_s }, { newId }) => xmlFile({ format: 'GPX', min_interval_s, newId }),
})
