import { defineImport } from '../../catalog/vault-tool.ts'
import { XmlFileReader } from '../../domain/import/xml-file.ts'
import { minIntervalArgument, sourceArguments } from './import-arguments.ts'

export default defineImport({
  name: 'import_gpx',
  category: 'import',
  title: 'Import GPX file',
  about:
    'Import a GPX file. Returns its tracks, routes and waypoints as features. Use it for files of GPS receivers and apps.',
  searchHint: 'load GPS data, waypoints',
  input: { ...sourceArguments, min_interval_s: minIntervalArgument },
  inject: {},
  read: ({ min_interval_s }, newId) => new XmlFileReader({ format: 'GPX', min_interval_s, newId }),
})
