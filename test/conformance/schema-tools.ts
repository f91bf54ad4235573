import type { AppTool } from '@causeway/app-kit'
import { rawTool, text } from './raw-tool.ts'

/** The schema that the suite expects unchanged in `tools/list`. */
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

/** Tools for the schema scenarios. */
export const schemaTools: readonly AppTool[] = [
  rawTool('json_schema_2020_12_tool', () => text('The schema is all there is to it.'), schema2020),
  rawTool('test_header_parameters', ({ region }) => text(`region: ${region}`), {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      priority: { type: 'integer', 'x-mcp-header': 'Priority' },
      note: { type: 'string' },
    },
  }),
]
