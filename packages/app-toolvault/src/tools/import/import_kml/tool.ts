import { xmlFile } from '../../../domain/import/xml-file.ts'
import { importTool, minInterval } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** import_kml: lines, tracks with times, points and areas. */
export default importTool({
  name: 'import_kml',
  category: 'import',
  about: 'Import a KML file: lines, tracks with times, points and areas.',
  input: { min_interval_s: minInterval() },
  inject: {},
  samples,
  read: ({ min_interval_s }, { newId }) => xmlFile({ format: 'KML', min_interval_s, newId }),
})
