import { formatCount, showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { exportFeatures } from '../domain/export/export-format.ts'
import { type FormatName, formats } from '../domain/export/formats.ts'
import { ToolVaultError } from '../errors.ts'
import { createFeaturesArgument, requireFeatures, selectedFeatures } from './arguments.ts'

/** In characters. */
const maxLength = 8 * 1024 ** 2

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
  inject: { features: selectedFeatures() },
  run({ features, format }) {
    const all = requireFeatures(features)
    const { text, left_out } = exportFeatures(all, formats[format])
    if (text.length > maxLength)
      throw new ToolVaultError('EXPORT_TOO_LARGE', `the text has more than ${maxLength} characters`, {
        data: { most: maxLength, characters: text.length },
      })
    const written = all.length - left_out.length
    return showData({
      title: `Export as ${format.toUpperCase()}`,
      summary: `${formatCount(written, 'feature')} written as ${format.toUpperCase()}, ${left_out.length} left out.`,
      format,
      written,
      left_out,
      text,
    })
  },
})
