import { defineImport } from '../../catalog/vault-tool.ts'
import { XmlFileReader } from '../../domain/import/xml-file.ts'
import { minIntervalArgument, sourceArguments } from './import-arguments.ts'

export default defineImport({
  name: 'import_kml',
  category: 'import',
  title: 'Import KML file',
  about:
    'Import a KML file. Returns its lines, tracks with times, points and areas as features. Use it for files of Google Earth.',
  searchHint: 'load Google Earth file',
  input: { ...sourceArguments, min_interval_s: minIntervalArgument },
  inject: {},
  read: ({ min_interval_s }, newId) => new XmlFileReader({ format: 'KML', min_interval_s, newId }),
})
