import { formatCount, showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { exportFeatures } from '../domain/export/export-format.ts'
import { type FormatName, formats } from '../domain/export/formats.ts'
import { ToolVaultError } from '../errors.ts'
import { createFeaturesArgument, injectSelectedFeatures, requireFeatures } from './arguments.ts'

/** In characters. */
const maxTextLength = 8 * 1024 ** 2

export default defineTool({
  name: 'export_features',
  category: 'export',
  title: 'Export features',
  about:
    'Write features as CSV, GPX, KML or REP. Returns the text of the file, and the features that the format cannot hold with the reason. Use it to hand tracks to other programs.',
  searchHint: 'save tracks to file, download',
  input: {
    features: createFeaturesArgument('Features'),
    format: z.enum(Object.keys(formats) as [FormatName, ...FormatName[]]).describe('REP is for Debrief'),
  },
  inject: { features: injectSelectedFeatures() },
  run({ features, format }) {
    const parsedFeatures = requireFeatures(features)
    const { text, omittedFeatures } = exportFeatures(parsedFeatures, formats[format])
    if (text.length > maxTextLength)
      throw new ToolVaultError('EXPORT_TOO_LARGE', `the text has more than ${maxTextLength} characters`, {
        data: { most: maxTextLength, characters: text.length },
      })
    const writtenCount = parsedFeatures.length - omittedFeatures.length
    return showData({
      title: `Export as ${format.toUpperCase()}`,
      summary: `${formatCount(writtenCount, 'feature')} written as ${format.toUpperCase()}, ${omittedFeatures.length} left out.`,
      format,
      written: writtenCount,
      left_out: omittedFeatures,
      text,
    })
  },
})
